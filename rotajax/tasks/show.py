"""`show_task`: the panel of a task's start as a picture, and a line that describes the task."""

import io
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from PIL import Image

from rotajax.checks import require, require_member
from rotajax.compare import iou, pose_error_deg
from rotajax.files import write_atomically
from rotajax.render.panel import panel
from rotajax.render.shade import shade
from rotajax.render.splat import splat
from rotajax.tasks.suite import Suite
from rotajax.tasks.task import Task
from rotajax.types import Array


def show_task(suite: Suite, task_id: str, out: str | Path) -> str:
    """Write the 972 x 320 panel of a task's start as PNG and return a line that describes the task.

    Raises ValueError for a task the suite does not have, and for an output that is no .png in an existing folder.
    """
    out = Path(out)
    require(out.suffix.lower() == ".png", "suite show: --out", "a file name that ends in .png", f"'{out}'")
    require(out.parent.is_dir(), "suite show: --out", "a file in an existing folder", f"no folder '{out.parent}'")
    require_member(task_id, suite.ids, f"suite {suite.info.id}: task")
    index = suite.ids.index(task_id)
    row, (picture, start_iou, error) = suite.info.rows[index], _draw(suite[index])
    png = io.BytesIO()
    Image.fromarray(np.asarray(picture)).save(png, "PNG")
    write_atomically(out, png.getvalue())
    icon = row["icon"]
    return (
        f"{task_id}: {icon['path']} by {icon['author']} ({icon['licence']}); start {len(row['start'])} turns of "
        f"30 degrees, IoU {float(start_iou):.3f}, pose error {float(error):.1f} degrees; symmetry of order "
        f"{row['symmetry_order']} {'with' if row['mirror'] else 'without'} mirrors; seed {row['seed']}"
    )


@jax.jit
def _draw(task: Task) -> tuple[Array, Array, Array]:
    target, current = splat(task.solid, jnp.eye(3, dtype=jnp.float32)), splat(task.solid, task.start)
    view = shade(task.solid, task.start)
    return panel(target, view, current), iou(current, target), pose_error_deg(task.start, task.group)
