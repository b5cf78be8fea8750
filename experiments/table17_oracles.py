"""Table 17: pose error after one action, as taken, at random, with direction, angle or both made best."""

from absl import flags

from experiments import common

POLICIES = flags.DEFINE_list("policies", "uniform_random,iou_greedy", "policies whose states are looked at")
SEEDS = flags.DEFINE_integer("seeds", 1, "seeds of the random policies", lower_bound=1)


def experiment() -> None:
    """Play, tabulate and draw."""
    from rotajax.reports.collect import collect

    entries = common.entries(POLICIES.value, seeds=SEEDS.value)
    common.write(common.named(collect(entries), "oracles"), pictures=["oracles"])


if __name__ == "__main__":
    common.main(experiment)
