"""What the tests of solvers share: solvers that need no model, questions of a task, and a run's requests."""

import io
import json

import jax
import jax.numpy as jnp
import numpy as np
from PIL import Image

import rotajax as rx
from rotajax.env.actions import ROTATIONS
from rotajax.render.shade import shade
from rotajax.render.splat import splat
from rotajax.solvers import CONDITIONS, Panel, Question, Reply, Turn
from rotajax.solvers.picture import make_panel

# Turns 1 and 2 of Figures 7 to 9.
FIGURES = (("YAW_POS", 30, "..."), ("PITCH_NEG", 10, "..."))


@jax.jit
def _draw(solid, R):
    return splat(solid, jnp.eye(3, dtype=jnp.float32)), shade(solid, R), splat(solid, R)


def draw(solid, R):
    """Target, auxiliary view and current silhouette of a solid under a pose, by the exact renderer, NumPy."""
    return tuple(np.asarray(picture) for picture in _draw(solid, R))


def pictures(task, moves=()):
    """The three pictures of a task after actions, NumPy."""
    pose = np.asarray(task.start)
    for direction, angle in moves:
        pose = rx.rotation(direction, angle) @ pose
    return draw(task.solid, pose)


def question(task, moves=(), condition="full"):
    """The question that a task's episode asks after moves (direction, angle, text)."""
    chosen, panels = CONDITIONS[condition], []
    for t in range(len(moves) + 1):
        target, view, current = pictures(task, [move[:2] for move in moves[:t]])
        view = view if chosen.auxiliary else None
        panels.append(make_panel(target, view, current))
    past = tuple(Turn(panel, *move) for panel, move in zip(panels, moves, strict=False)) if chosen.history else ()
    return Question("e", len(moves), 0, target, view, current, panels[-1], past, chosen)


def pixels(panel):
    """A panel's or a PNG's pixels, as another program reads them."""
    png = panel.png if isinstance(panel, Panel) else panel
    return np.asarray(Image.open(io.BytesIO(png)))


async def drawn_by_lot(asked):
    """A rotation that depends on the question's pictures and turn alone."""
    number = int(asked.panel.sha256, 16) + 7 * asked.turn + len(asked.history)
    return Reply(number % ROTATIONS, text=f"by lot at turn {asked.turn}")


def chat(direction, angle, text="because"):
    """The text of a legal answer."""
    return json.dumps({"cot": text, "type": direction, "angle": angle}, separators=(",", ":"))
