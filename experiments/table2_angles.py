"""Table 2, its random row (and Table 15): chosen angles and their correlation with the IoU before them."""

from absl import flags

from experiments import common

POLICIES = flags.DEFINE_list("policies", "uniform_random", "policies to play")
SEEDS = flags.DEFINE_integer("seeds", 3, "seeds of the random policies", lower_bound=1)


def experiment() -> None:
    """Play and tabulate; the paper's row is of its first 30 test tasks."""
    from rotajax.reports.collect import collect

    tables = collect(common.entries(POLICIES.value, seeds=SEEDS.value))
    common.write(common.named(tables, "summary", "angles", "associations"))


if __name__ == "__main__":
    common.main(experiment)
