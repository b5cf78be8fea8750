"""Figure 4 and Table 10: Spearman's correlation of chosen angles with IoU and pose error, and Equation 14."""

from absl import flags

from experiments import common

POLICIES = flags.DEFINE_list("policies", "uniform_random,pose_greedy", "policies to play")
SEEDS = flags.DEFINE_integer("seeds", 1, "seeds of the random policies", lower_bound=1)


def experiment() -> None:
    """Play, tabulate and draw."""
    from rotajax.reports.collect import collect

    entries = common.entries(POLICIES.value, seeds=SEEDS.value)
    common.write(common.named(collect(entries), "associations"), pictures=["associations"])


if __name__ == "__main__":
    common.main(experiment)
