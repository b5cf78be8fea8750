"""The lines of episodes.jsonl: made from episodes, written, read and checked."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rotajax.checks import require
from rotajax.env.actions import ACTIONS, ROTATIONS
from rotajax.env.rollout import Episodes
from rotajax.env.state import OUTCOMES as ENDINGS

# Every ending of the rules, and "error" for an episode whose solver failed.
OUTCOMES = (*ENDINGS, "error")
DECISION_NUMBERS = ("iou_before", "iou_after", "pose_error_before", "pose_error_after")
EPISODE_NUMBERS = ("final_iou", "final_pose_error")
# Nothing in a file is near it: IoUs, degrees and the entries of rotations.
LARGEST = 1e6
# Without 64-bit numbers jax takes the seed modulo 2^32: a larger one would be an earlier one again.
LAST_SEED = 2**32 - 1

_ACTION_INDEX = {(action.direction, action.angle): index for index, action in enumerate(ACTIONS)}


class EpisodeKey(NamedTuple):
    """What identifies an episode within a run."""

    task: str
    policy: str
    seed: int


def episode_lines(episodes: Episodes, tasks: Sequence[str], *, policy: str, seed: int) -> list[dict]:
    """Return the lines of a batch of episodes, one after the other: its decisions, then its episode line.

    `tasks` are the ids along the batch axis. Floats are the shortest decimals that read back as the same float32.
    """
    columns = [np.asarray(a) for a in (episodes.action, episodes.decisions, episodes.steps, episodes.outcome)]
    action, decisions, steps, outcome = (column.tolist() for column in columns)
    iou, error = shortest(episodes.iou), shortest(episodes.pose_error)
    rotation = shortest(np.asarray(episodes.rotation).reshape(*np.shape(episodes.iou), 9))
    lines: list[dict] = []
    for b, task in enumerate(tasks):
        key = EpisodeKey(task, policy, seed)
        for t in range(decisions[b]):
            pairs = (iou[b][t], iou[b][t + 1]), (error[b][t], error[b][t + 1])
            lines.append(decision_line(key, t, action[b][t], *pairs, rotation[b][t]))
        last = decisions[b]
        lines.append(episode_line(key, outcome[b], steps[b], iou[b][last], error[b][last], rotation[b][last]))
    return lines


def decision_line(
    key: EpisodeKey, t: int, action: int, iou: tuple, pose_error: tuple, rotation: Sequence[float]
) -> dict:
    """Return the line of a decision: IoU and pose error before and after it, the nine numbers of the pose before."""
    chosen = ACTIONS[action]
    return {
        "kind": "decision",
        **key._asdict(),
        "t": t,
        "action": chosen.direction,
        "angle": chosen.angle,
        "iou_before": iou[0],
        "iou_after": iou[1],
        "pose_error_before": pose_error[0],
        "pose_error_after": pose_error[1],
        "rotation": rotation,
    }


def episode_line(
    key: EpisodeKey, outcome: int, steps: int, iou: float, pose_error: float, rotation: Sequence[float]
) -> dict:
    """Return the line of an episode's end; `outcome` is an index of OUTCOMES."""
    ended = {"outcome": OUTCOMES[outcome], "steps": steps, "final_iou": iou}
    return {
        "kind": "episode",
        **key._asdict(),
        **ended,
        "final_pose_error": pose_error,
        "final_rotation": rotation,
    }


@dataclasses.dataclass
class Parsed:
    """The checked content of a file: finished episodes, and the decisions of all."""

    ended: dict[EpisodeKey, tuple]  # outcome, steps, final IoU, final pose error
    decisions: dict[EpisodeKey, list[tuple]]  # action, 13 numbers
    kept: int  # bytes of whole lines
    notes: list[str]


def parse(file: Path) -> Parsed:
    """Return every line of a file by episode, checked."""
    parsed = Parsed({}, {}, 0, [])
    data = file.read_bytes() if file.exists() else b""
    parsed.kept = data.rfind(b"\n") + 1
    if parsed.kept < len(data):
        parsed.notes.append(f"run '{file.parent}': its last line was torn ({len(data) - parsed.kept} bytes cut off)")
    for number, raw in enumerate(data[: parsed.kept].split(b"\n")[:-1], 1):
        try:
            line = decode(raw)
            key = key_of(line)
            if line["kind"] == "decision":
                _add_decision(parsed, key, line)
            else:
                _add_episode(parsed, key, line)
        except KeyError as error:
            raise ValueError(f"'{file}' line {number}: expected a key {error}, got none") from None
        except (ValueError, TypeError) as error:
            raise ValueError(f"'{file}' line {number}: {error}") from None
    return parsed


def _add_decision(parsed: Parsed, key: EpisodeKey, line: dict) -> None:
    name = f"decision of {key.policy} on {key.task}, seed {key.seed}"
    require(key not in parsed.ended, name, "none after the episode ended", f"t = {line['t']}")
    rows = parsed.decisions.setdefault(key, [])
    require(line["t"] == len(rows), name, f"t = {len(rows)}", line["t"])
    action = _ACTION_INDEX.get((line["action"], line["angle"]))
    require(action is not None, f"{name}: action", "one of the 24 rotations or STOP", (line["action"], line["angle"]))
    numbers = [line[field] for field in DECISION_NUMBERS]
    require(len(line["rotation"]) == 9, f"{name}: rotation", "9 numbers", len(line["rotation"]))
    rows.append((action, _numbers(numbers + line["rotation"], name)))


def _add_episode(parsed: Parsed, key: EpisodeKey, line: dict) -> None:
    name = f"episode of {key.policy} on {key.task}, seed {key.seed}"
    require(key not in parsed.ended, name, "one", "a duplicate")
    require(line["outcome"] in OUTCOMES[1:], f"{name}: outcome", "one of " + ", ".join(OUTCOMES[1:]), line["outcome"])
    rotations = sum(action < ROTATIONS for action, _ in parsed.decisions.get(key, ()))
    require(line["steps"] == rotations, f"{name}: steps", f"{rotations}, as many as its rotations", line["steps"])
    finals = _numbers([line[field] for field in EPISODE_NUMBERS], name)
    parsed.ended[key] = (OUTCOMES.index(line["outcome"]), rotations, *finals)


def _numbers(values: list, name: str) -> list:
    if not set(map(type, values)) <= {float, int}:
        other = next(value for value in values if type(value) not in (float, int))
        raise ValueError(f"{name}: values: expected numbers, got {other!r}")
    if not max(map(abs, values)) <= LARGEST:  # 1e999 is JSON and reads as infinity
        raise ValueError(f"{name}: values: expected numbers of at most {LARGEST:g}, got a larger one")
    return values


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"expected finite numbers, got {name}")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def decode(raw: bytes) -> dict:
    """Return a line as an object. Raises ValueError for what is not a decision or an episode in JSON."""
    try:
        line = _DECODER.decode(raw.decode())
    except UnicodeDecodeError:
        raise ValueError("expected UTF-8, got other bytes") from None
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"expected JSON, got {error}") from None
    kind = line.get("kind") if isinstance(line, dict) else type(line).__name__
    require(kind in ("decision", "episode"), "kind", "decision or episode", kind)
    return line


def encode(line: dict) -> bytes:
    """Return the bytes of a line, its end included."""
    text = json.dumps(line, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    # JSON can spell lone surrogates, and a model's answer may; UTF-8 cannot.
    return text.encode("utf-8", "replace") + b"\n"


def key_of(line: dict) -> EpisodeKey:
    """Return the episode that a line belongs to."""
    key = EpisodeKey(line["task"], line["policy"], line["seed"])
    good = (type(key.task), type(key.policy), type(key.seed)) == (str, str, int)
    good = good and 0 <= key.seed <= LAST_SEED
    require(good, "task, policy, seed", f"two texts and 0 to {LAST_SEED}", tuple(key))
    return key


def shortest(array: Any) -> list:
    """Return nested lists of the shortest decimals that read back as the same float32."""
    array = np.asarray(array, np.float32)
    return array.astype("U32").astype(np.float64).tolist()
