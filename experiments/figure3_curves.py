"""Figure 3: mean IoU after 0 to 48 rotations, with intervals over tasks."""

from absl import flags

from experiments import common

POLICIES = flags.DEFINE_list("policies", "uniform_random,random_rollback,iou_greedy,pose_greedy", "policies to play")
SEEDS = flags.DEFINE_integer("seeds", 1, "seeds of the random policies; the paper has 3", lower_bound=1)


def experiment() -> None:
    """Play, tabulate and draw."""
    from rotajax.reports.collect import collect

    entries = common.entries(POLICIES.value, seeds=SEEDS.value)
    common.write(common.named(collect(entries), "curves"), pictures=["iou_curves"])


if __name__ == "__main__":
    common.main(experiment)
