"""The columns of a solid that decide its silhouettes: some tenth of them, for the span renderer."""

import jax.numpy as jnp
import numpy as np
from scipy import ndimage

from rotajax.checks import require
from rotajax.geometry.solid import CHUNK, RADIUS, Solid
from rotajax.types import Array, Float32, Int32, UInt32, struct

# The lattice on which the outline is found: 0.5 pixels a cell, about the spacing of an icon's columns.
CELL = 0.1
# Gaps narrower than 2 * GAP cells (2 pixels) are no outline: the 2-pixel disk fills them under every pose.
GAP = 2
# Inside the outline one column in BLOCK x BLOCK cells (2 pixels a side) stays.
BLOCK = 4
# For pictures of half the size, one in so many cells a side inside the outline (4 pixels) and along it (2 pixels).
COARSE_BLOCK, COARSE_OUTLINE = 8, 4


@struct
class Skeleton:
    """The columns (x, y, |z| <= h) that the span renderer draws, in solid units, padded with zeros.

    The first `coarse` of them are enough for pictures of half the size. Those from `outline` on, before
    `inside`, are of the outline, all others inside it.
    """

    x: Float32[Array, "*B C"]
    y: Float32[Array, "*B C"]
    index: UInt32[Array, "*B C"]  # each column's place in the solid, which its samples' depths depend on
    count: Int32[Array, "*B"]  # the first `count` columns are real
    coarse: Int32[Array, "*B"]
    outline: Int32[Array, "*B"]
    inside: Int32[Array, "*B"]
    seed: UInt32[Array, "*B"]


def skeleton(solid: Solid, *, size: int | None = None) -> Skeleton:
    """Return the deciding columns of one solid, on the host: all of its outline, a thinned lattice inside it.

    Away from its outline a solid is bounded by the sphere, where neighbouring columns end within 0.1 pixels of a chord:
    one in some fifteen does. Padded to `size` columns, default the next multiple of 8,192; a kernel's time depends on
    `count` alone, so one size for a whole suite costs nothing. Raises ValueError if `size` is too small.
    """
    count = int(solid.count)
    x, y = np.asarray(solid.x)[:count], np.asarray(solid.y)[:count]
    exposed = of_outline(x, y, CELL, GAP)
    keep = np.flatnonzero(exposed | one_a_block(x, y, CELL * BLOCK))
    coarse = np.zeros(len(keep), bool)
    for rows, block in ((exposed[keep], COARSE_OUTLINE), (~exposed[keep], COARSE_BLOCK)):
        coarse[rows] = one_a_block(x[keep][rows], y[keep][rows], CELL * block)
    # The coarse ones inside, the outline, its coarse ones first, then the others inside.
    part = np.where(exposed[keep], np.where(coarse, 1, 2), np.where(coarse, 0, 3))
    keep = keep[np.argsort(part, kind="stable")]
    size = -(-len(keep) // CHUNK) * CHUNK if size is None else size
    require(size % CHUNK == 0, "skeleton: padded size", f"a multiple of {CHUNK}", size)
    require(len(keep) <= size, "skeleton: padded size", f"at least {len(keep)}", size)
    pad = (0, size - len(keep))
    return Skeleton(
        x=jnp.asarray(np.pad(x[keep], pad)),
        y=jnp.asarray(np.pad(y[keep], pad)),
        index=jnp.asarray(np.pad(keep.astype(np.uint32), pad)),
        count=jnp.int32(len(keep)),
        coarse=jnp.int32(coarse.sum()),
        outline=jnp.int32((part < 1).sum()),
        inside=jnp.int32((part < 3).sum()),
        seed=jnp.asarray(solid.seed, jnp.uint32),
    )


def of_outline(x: np.ndarray, y: np.ndarray, cell: float, gap: int) -> np.ndarray:
    """Return which columns have an empty cell among their own cell's eight neighbours; `cell` in solid units.

    Gaps narrower than 2 `gap` cells count as filled.
    """
    cells = int(2 * RADIUS / cell)
    frame = 2 * gap
    row, column = (np.clip(((v + RADIUS) / cell).astype(int), 0, cells - 1) + frame for v in (y, x))
    occupied = np.zeros((cells + 2 * frame, cells + 2 * frame), bool)
    occupied[row, column] = True
    square = np.ones((3, 3), bool)
    filled = ndimage.binary_closing(occupied, square, iterations=gap) | occupied
    return np.logical_not(ndimage.binary_erosion(filled, square))[row, column]


def one_a_block(x: np.ndarray, y: np.ndarray, side: float, *, reach: float = RADIUS) -> np.ndarray:
    """Return which points, |x|, |y| <= reach, are the nearest to the centre of their block of a side."""
    row, column = (((v + reach) / side).astype(int) for v in (y, x))
    distance = (x + reach - (column + 0.5) * side) ** 2 + (y + reach - (row + 0.5) * side) ** 2
    block = row * int(2 * reach / side + 1) + column
    order = np.lexsort((distance, block))
    first = np.flatnonzero(np.diff(block[order], prepend=-1))
    chosen = np.zeros(len(x), bool)
    chosen[order[first]] = True
    return chosen
