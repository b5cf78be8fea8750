"""The metrics of a run: one JSON line an update, and a picture of their curves."""

import io
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rotajax.files import write_atomically

# Updates that a point of the curve averages.
SMOOTH = 10


class Metrics:
    """The file of a run's metrics, cut back to the update that a run goes on from."""

    def __init__(self, path: Path, update: int):
        self.path = path
        kept = [line for line in read_metrics(path) if line["update"] <= update]
        write_atomically(path, "".join(json.dumps(line) + "\n" for line in kept))

    def append(self, lines: Sequence[dict]) -> None:
        """Add lines."""
        with self.path.open("a") as file:
            file.write("".join(json.dumps(line, allow_nan=False) + "\n" for line in lines))


def read_metrics(path: Path) -> list[dict]:
    """Return the whole lines of a metrics file; the last one may have been cut by a kill."""
    found = []
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            found.append(json.loads(line))
        except ValueError:
            break
    return found


def draw_metrics(lines: Sequence[dict], out: Path, *, title: str) -> None:
    """Write the curves of loss and of success in play against the states seen, as a PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.4), dpi=150, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    states = np.array([line["states"] for line in lines])
    name = "pose_loss" if "pose_loss" in lines[0] else "reward"
    left.plot(states, [line[name] for line in lines], color="0.75", linewidth=0.8)
    left.plot(states, _smoothed([line[name] for line in lines]), color="C0")
    ended = _smoothed([line["ended"] for line in lines])
    right.plot(states, 100 * _smoothed([line["succeeded"] for line in lines]) / np.maximum(ended, 1e-9), color="C1")
    label = "cross-entropy of the pose (nats)" if name == "pose_loss" else "reward a step"
    left.set(xlabel="states", ylabel=label)
    right.set(xlabel="states", ylabel="games won of those ended (%)", ylim=(0, 100))
    for axes in (left, right):
        axes.grid(alpha=0.25)
    figure.suptitle(title, fontsize="medium")
    picture = io.BytesIO()
    canvas.print_png(picture, metadata={"Software": None})
    write_atomically(out, picture.getvalue())


def _smoothed(values: Sequence[float]) -> np.ndarray:
    """Return running means over the last SMOOTH values."""
    sums = np.cumsum(np.concatenate([[0.0], np.asarray(values, np.float64)]))
    index = np.arange(1, len(sums))
    first = np.maximum(index - SMOOTH, 0)
    return (sums[index] - sums[first]) / (index - first)
