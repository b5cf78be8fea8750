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
    "train_env",
)
# Asked by name alone: minutes each, and no peer stands beside them.
LONG = ("solver_overhead", "analysis")
