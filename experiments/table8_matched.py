"""Table 8 and Figure 5: what two methods do in the same states, and Tables 14 and 16, their paired differences."""

from absl import flags

from experiments import common

POLICIES = flags.DEFINE_list("policies", "pose_greedy,random_rollback", "two policies to play and compare")
SEEDS = flags.DEFINE_integer("seeds", 3, "seeds of the random policies", lower_bound=1)
COVERAGE = flags.DEFINE_bool("coverage", True, "measure surface coverage before the actions (Appendix F)")


def experiment() -> None:
    """Play and compare the first two methods."""
    from rotajax.checks import require
    from rotajax.reports.collect import collect_pairs

    entries = common.entries(POLICIES.value, seeds=SEEDS.value, coverage=COVERAGE.value)
    require(len(entries) >= 2, "table8_matched", "two methods", f"{len(entries)}")
    common.write(collect_pairs([(entries[0], entries[1])]), pictures=["matched"])


if __name__ == "__main__":
    common.main(experiment)
