"""Run folders: `open_run` for writing and going on, `read_run` for typed columns. Nothing else reads or writes them.

A run folder holds run.json (what was asked, and with what), episodes.jsonl (one JSON line a decision and an episode)
and whatever reports put beside them. An episode counts once its `episode` line is there.
"""

from rotajax.records.columns import DecisionColumns, EpisodeColumns, Run, read_run
from rotajax.records.lines import LAST_SEED, OUTCOMES, EpisodeKey, episode_lines
from rotajax.records.writer import RunWriter, open_run

__all__ = [
    "LAST_SEED",
    "OUTCOMES",
    "DecisionColumns",
    "EpisodeColumns",
    "EpisodeKey",
    "Run",
    "RunWriter",
    "episode_lines",
    "open_run",
    "read_run",
]
