"""Table 2 for a trained policy: without the auxiliary view, without history, without both.

`--checkpoint` plays under all four conditions: what is taken away is a blank view, and a belief that is forgotten at
every turn. `--blind`, a checkpoint that was trained without the view, is the fairer row for its absence.
"""

from absl import flags

from experiments import common

CHECKPOINT = flags.DEFINE_string("checkpoint", "data/checkpoints/small", "a trained policy: a run or a checkpoint")
BLIND = flags.DEFINE_string("blind", None, "one that was trained without the auxiliary view")
CONDITIONS = {
    "full": {},
    "no_auxiliary": {"auxiliary": False},
    "no_history": {"history": False},
    "neither": {"auxiliary": False, "history": False},
}


def experiment() -> None:
    """Play the conditions and tabulate."""
    from rotajax.reports.layout import Column, Table
    from rotajax.train.play import play
    from rotajax.train.policy import load_agent

    suite = common.suite()
    agents = {name: load_agent(CHECKPOINT.value, **changes) for name, changes in CONDITIONS.items()}
    if BLIND.value:
        agents["trained_without_auxiliary"] = load_agent(BLIND.value)
        agents["trained_without_auxiliary_no_history"] = load_agent(BLIND.value, history=False)
    rows = [row(name, play(agent, suite.tasks)) for name, agent in agents.items()]
    columns = (
        Column("policy", "condition"),
        Column("episodes", "episodes", 0),
        Column("success_pct", "success %", 2),
        Column("final_iou", "final IoU", 3),
        Column("steps", "steps", 2),
        Column("final_pose_error_deg", "final pose error", 2),
    )
    note = f"Suite {suite.info.id}, {len(suite)} tasks, exact rules; intervals are Wilson's."
    common.write([Table("training_ablations", "A trained policy without some of its inputs", note, columns, rows)])


def row(name: str, episodes) -> dict:
    """Return the row of a condition."""
    import numpy as np

    from rotajax.analysis.intervals import wilson

    won = int((episodes.outcome == 1).sum())
    count = len(episodes.outcome)
    return {
        "policy": name,
        "episodes": count,
        "success_pct": 100 * won / count,
        **wilson(won, count).fields("success_pct"),
        "final_iou": float(np.mean(episodes.iou[:, -1])),
        "steps": float(np.mean(episodes.steps)),
        "final_pose_error_deg": float(np.mean(episodes.pose_error[:, -1])),
    }


if __name__ == "__main__":
    common.main(experiment)
