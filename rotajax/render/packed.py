"""Masks packed 32 cells a word, and the morphology of Appendix G on them: some fifty word operations a picture.

A packed mask is UInt32[H, H / 32 words], row-major; bit k of word j of a row is its cell 32 j + k, so that the least
significant bit is the leftmost pixel. Moving a picture right is a shift to the left. The kernels work on its transpose,
UInt32[words, H] ("upright"): ten long lanes vectorise where 320 rows of ten words do not. Barriers keep a compiler
from computing a moved picture anew for every use.
"""

import jax.numpy as jnp
from jax.lax import optimization_barrier

from rotajax.types import Array, Bool, Int32, UInt8, UInt32

WORD = 32
FULL = 0xFFFFFFFF

Packed = UInt32[Array, "rows words"]
Upright = UInt32[Array, "words rows"]
# With a frame of words and rows around it, at least one word a side.
Framed = UInt32[Array, "framed_words framed_rows"]


def pack(mask: Bool[Array, "rows columns"]) -> Packed:
    """Return the packed form of a mask whose width is a multiple of 32.

    >>> import numpy as np
    >>> pack(np.eye(3, 32, dtype=bool)).ravel().tolist()
    [1, 2, 4]
    """
    rows, columns = mask.shape
    return pack_planes(jnp.moveaxis(mask.reshape(rows, columns // WORD, WORD), 2, 0))


def pack_planes(planes: Bool[Array, "32 *cells"]) -> UInt32[Array, "*cells"]:
    """Return the words whose bit k is planes[k]: with the bits on the leading axis every lane packs its own word.

    Four quarters of 8 bits, because comparisons of int8 make masks of 8 bits.
    """
    word = jnp.zeros(planes.shape[1:], jnp.uint32)
    for first in range(0, WORD, 8):
        quarter = jnp.zeros(planes.shape[1:], jnp.uint8)
        for k in range(8):
            quarter = quarter | jnp.where(planes[first + k], jnp.uint8(1 << k), jnp.uint8(0))
        word = word | (quarter.astype(jnp.uint32) << jnp.uint32(first))
    return word


def pack_marks(marks: UInt8[Array, "cells_and_one"], size: int) -> Upright:
    """Return the upright words of a square picture's marks, a byte a cell at [bit, word, row] and one more behind."""
    planes = optimization_barrier(marks[: size * size].reshape(WORD, -1))
    return optimization_barrier(pack_planes(planes != 0)).reshape(size // WORD, size)


def unpack(words: Packed) -> Bool[Array, "rows columns"]:
    """Return the mask of packed words, the inverse of `pack`."""
    bits = (words[:, :, None] >> jnp.arange(WORD, dtype=jnp.uint32)[None, None]) & jnp.uint32(1)
    return bits.reshape(words.shape[0], -1) != 0


def shift_rows(words: Upright, amount: Int32[Array, "rows"], *, width: int, reach: int) -> UInt32[Array, "width rows"]:
    """Return `width` words a row: row i moved right by amount[i] cells (left if negative), zeros moving in.

    Amounts are traced values within [-32 reach, 32 reach]; what leaves the words is lost. A barrel shifter: whole words
    by powers of two, then the rest of the cells.
    """
    move = jnp.int32(WORD * reach) - amount
    whole, rest = move >> jnp.int32(5), (move & jnp.int32(31)).astype(jnp.uint32)[None]
    stages = (2 * reach).bit_length()
    longest = width + 2**stages
    words = jnp.pad(words, ((reach, max(longest - reach - words.shape[0], 0)), (0, 0)))[:longest]
    for k in reversed(range(stages)):
        longest = width + 2**k
        far = ((whole >> jnp.int32(k)) & jnp.int32(1))[None] != 0
        words = optimization_barrier(jnp.where(far, words[2**k : 2**k + longest], words[:longest]))
    # A shift by 32 is undefined, so the upper part moves by 31 - rest and once more.
    return (words[:width] >> rest) | ((words[1:] << (jnp.uint32(31) - rest)) << jnp.uint32(1))


def _framed(words: Upright, outside: int, rows: int) -> Framed:
    framed = jnp.pad(words, ((1, 1), (rows, rows)), constant_values=jnp.uint32(outside))
    return optimization_barrier(framed)


def _sideways(framed: Framed, cells: int) -> tuple[Upright, Upright]:
    """Return a picture with one word of frame moved right and left by some cells, that frame dropped."""
    near, far = jnp.uint32(cells), jnp.uint32(WORD - cells)
    before, at, after = framed[:-2], framed[1:-1], framed[2:]
    return (at << near) | (before >> far), (at >> near) | (after << far)


def dilate_disk(words: Upright) -> Upright:
    """Return the mask with a 13-pixel disk (du^2 + dv^2 <= 4) at every set pixel."""
    framed = _framed(words, 0, 2)
    at = framed[1:-1]
    right, left = _sideways(framed, 1)
    right2, left2 = _sideways(framed, 2)
    three = optimization_barrier(at | right | left)
    five = (three | right2 | left2)[:, 2:-2]
    return five | three[:, 1:-3] | three[:, 3:-1] | at[:, :-4] | at[:, 4:]


def erode_disk(words: Upright) -> Upright:
    """Return the pixels whose whole 13-pixel disk is set, as far as it lies inside the picture."""
    return ~dilate_disk(~words)


def erode_sideways(words: Upright) -> Upright:
    """Return the pixels whose left and right neighbours are set too; outside nothing is."""
    right, left = _sideways(_framed(words, 0, 0), 1)
    return words & right & left


def dilate_cross(words: Upright) -> Upright:
    """Return the mask with a 3 x 3 cross at every set pixel."""
    framed = _framed(words, 0, 1)
    right, left = _sideways(framed[:, 1:-1], 1)
    return words | right | left | framed[1:-1, :-2] | framed[1:-1, 2:]


def close_cross(words: Upright) -> Upright:
    """Return the closing of the mask with the 3 x 3 cross; the outside never erodes the border."""
    framed = _framed(dilate_cross(words), FULL, 1)
    right, left = _sideways(framed[:, 1:-1], 1)
    return framed[1:-1, 1:-1] & right & left & framed[1:-1, :-2] & framed[1:-1, 2:]


def flip_diagonal(words: Upright) -> Packed:
    """Return the packed transpose of a square mask: blocks of 32 x 32, in five rounds of exchanging smaller ones."""
    count, size = words.shape
    # Row in block first: every round works on whole lanes. Then block column, block row.
    block = jnp.moveaxis(words.reshape(count, count, WORD), 2, 0)
    for step, keep in ((16, 0x0000FFFF), (8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        pair = optimization_barrier(block).reshape(WORD // (2 * step), 2, step, count, count)
        upper, lower = pair[:, 0], pair[:, 1]
        kept, other, by = jnp.uint32(keep), jnp.uint32(FULL ^ keep), jnp.uint32(step)
        upper, lower = (upper & kept) | ((lower & kept) << by), ((upper >> by) & kept) | (lower & other)
        block = jnp.stack([upper, lower], axis=1).reshape(WORD, count, count)
    # A block column has become a block row: rows are (block column, row in block), words are the block rows.
    return jnp.moveaxis(block, 0, 1).reshape(size, count)
