"""The questions, in the order of the tables: a file each, with `cases(inputs, quick)`."""

NAMES = (
    "exact_mask",
    "span_mask",
    "oracle",
    "search",
    "steps",
    "batch",
    "devices",
    "first_result",
    "solver_overhead",
    "train_env",
    "analysis",
)
