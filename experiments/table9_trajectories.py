"""Table 9: final pose error, improving steps and changes a step, beside the paper's rows."""

from absl import flags

from experiments import common

POLICIES = flags.DEFINE_list("policies", "uniform_random,random_rollback,iou_greedy,pose_greedy", "policies to play")
SEEDS = flags.DEFINE_integer("seeds", 1, "seeds of the random policies; the paper has 3", lower_bound=1)


def experiment() -> None:
    """Play and tabulate."""
    from rotajax.reports.collect import collect

    entries = common.entries(POLICIES.value, seeds=SEEDS.value)
    common.write(common.named(collect(entries, paper=True), "trajectories"))


if __name__ == "__main__":
    common.main(experiment)
