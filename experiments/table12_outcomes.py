"""Tables 12 and 13: how episodes ended, repeated actions, and answers until a legal action where runs say them."""

from absl import flags

from experiments import common

POLICIES = flags.DEFINE_list("policies", "uniform_random,random_rollback,pose_greedy", "policies to play")
SEEDS = flags.DEFINE_integer("seeds", 1, "seeds of the random policies", lower_bound=1)


def experiment() -> None:
    """Play, tabulate and draw."""
    from rotajax.reports.collect import collect

    entries = common.entries(POLICIES.value, seeds=SEEDS.value)
    common.write(common.named(collect(entries), "outcomes", "retries"), pictures=["outcomes"])


if __name__ == "__main__":
    common.main(experiment)
