"""Small solids, groups and pictures for tests: everything in the 8,192-column bucket, so that programs are shared."""

import numpy as np

from reference import rotation
from rotajax.env.state import RUNNING, State, first_state
from rotajax.geometry.solid import SAMPLES, Solid, make_solid
from rotajax.tasks.task import Task

EYE = np.eye(3, dtype=np.float32)


def grid(keep, *, step=0.3437, reach=26.0):
    """The points of a square grid, float64 [N, 2], in reading order, that `keep(x, y)` takes.

    The step is no simple fraction of a pixel: points half way between two pixels would fall to either side as the
    compiler fuses 160 + 5 x or does not, and float32 alone does not say which is right.
    """
    side = step * np.arange(-int(reach / step), int(reach / step) + 1)
    y, x = (a.ravel() for a in np.meshgrid(side, side, indexing="ij"))
    inside = keep(x, y) & (x * x + y * y <= 27.44**2)
    return np.stack([x[inside], y[inside]], axis=1)


def letter(x, y):
    """An F with a dot: no symmetry."""
    stem = (np.abs(x + 10) < 4) & (np.abs(y) < 20)
    arms = (x > -10) & (((np.abs(y + 17) < 3) & (x < 12)) | ((np.abs(y) < 3) & (x < 5)))
    return stem | arms | ((x - 12) ** 2 + (y - 8) ** 2 < 16)


def bar(x, y):
    """A rectangle: order 2 with mirrors at 0 and 90 degrees."""
    return (np.abs(x) < 22) & (np.abs(y) < 6)


def ring(x, y):
    """A square frame with notches: thin walls and a hole."""
    outer = np.maximum(np.abs(x), np.abs(y))
    return (outer < 18) & (outer > 13) & ~((np.abs(x) < 2) & (y < 0))


def solid_of(keep, seed=7, **options):
    return make_solid(grid(keep, **options), seed)


def cloud(solid: Solid) -> np.ndarray:
    """The sampled points, float32 [N, 3], by NumPy alone: Appendix G's 31 samples from the hash as written down."""
    n = int(solid.count)
    x, y = (np.asarray(c[:n], np.float32) for c in (solid.x, solid.y))
    half = np.sqrt(np.maximum(np.float32(784) - x * x - y * y, np.float32(0)))
    i, j = np.arange(n, dtype=np.uint32)[:, None], np.arange(SAMPLES, dtype=np.uint32)[None]
    z = fractions(np.uint32(solid.seed), i, j) * half[:, None]
    xy = (np.repeat(c[:, None], SAMPLES, 1) for c in (x, y))
    return np.stack([*xy, z], axis=-1).reshape(-1, 3)


def fractions(seed, i, j):
    """The depth fractions 2 q - 1, float32, in NumPy uint32 arithmetic that wraps."""
    with np.errstate(over="ignore"):
        word = (np.uint32(seed) ^ (i * np.uint32(0x9E3779B1))) + j * np.uint32(0x85EBCA77)
        word = (word ^ (word >> np.uint32(16))) * np.uint32(0x21F0AAAD)
        word = (word ^ (word >> np.uint32(15))) * np.uint32(0x735A2D97)
        word = word ^ (word >> np.uint32(15))
    inner = (word >> np.uint32(8)).astype(np.float64) / 2**23 - 1.0
    return np.where(j == 0, -1.0, np.where(j == 1, 1.0, inner)).astype(np.float32)


def random_rotation(rng) -> np.ndarray:
    """A uniform rotation, float64 [3, 3]."""
    q = rng.normal(size=4)
    w, x, y, z = q / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def about(axis, degrees) -> np.ndarray:
    """The rotation about an axis by an angle in degrees, float64 [3, 3] (Rodrigues)."""
    x, y, z = np.asarray(axis, np.float64) / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    t = np.radians(degrees)
    return np.eye(3) + np.sin(t) * k + (1 - np.cos(t)) * (k @ k)


def padded_group(order=1, mirror=None) -> np.ndarray:
    """The group of Appendix D by the reference, float32 [24, 3, 3], padded with the identity."""
    group = np.broadcast_to(np.eye(3), (24, 3, 3)).copy()
    elements = rotation.symmetry_group(order, mirror)
    group[: len(elements)] = elements
    return group.astype(np.float32)


def task_of(keep, start, *, seed=7, order=1, mirror=None) -> Task:
    return Task(solid=solid_of(keep, seed), start=np.asarray(start, np.float32), group=padded_group(order, mirror))


def state_at(task: Task, *, R=None, iou=0.5, target=None) -> State:
    """A state before the first decision, by hand: no picture is drawn, the target is empty unless given."""
    target = np.zeros((320, 320), np.bool_) if target is None else target
    return first_state(task, target, task.start if R is None else R, np.float32(iou), np.int32(RUNNING))
