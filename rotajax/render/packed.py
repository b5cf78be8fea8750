"""Masks packed 32 cells a word, and the morphology of Appendix G on them: some fifty word operations a picture.

A packed mask is UInt32[H, H / 32 words], row-major; bit k of word j of a row is its cell 32 j + k, so that the least
significant bit is the leftmost pixel. Moving a picture right is a shift to the left.
"""

import jax.numpy as jnp

from rotajax.types import Array, Bool, Int32, UInt32

WORD = 32
FULL = 0xFFFFFFFF

Packed = UInt32[Array, "rows words"]


def pack(mask: Bool[Array, "rows columns"]) -> Packed:
    """Return the packed form of a mask whose width is a multiple of 32.

    >>> import numpy as np
    >>> pack(np.eye(3, 32, dtype=bool)).ravel().tolist()
    [1, 2, 4]
    """
    rows, columns = mask.shape
    bits = mask.reshape(rows, columns // WORD, WORD)
    return pack_planes(jnp.moveaxis(bits, 2, 0))


def pack_planes(planes: Bool[Array, "32 *cells"]) -> UInt32[Array, "*cells"]:
    """Return the words whose bit k is planes[k]; with the bits on the leading axis every lane packs its own word."""
    words = planes[0].astype(jnp.uint32)
    for k in range(1, WORD):
        words = words | (planes[k].astype(jnp.uint32) << jnp.uint32(k))
    return words


def unpack(words: Packed) -> Bool[Array, "rows columns"]:
    """Return the mask of packed words, the inverse of `pack`."""
    bits = (words[:, :, None] >> jnp.arange(WORD, dtype=jnp.uint32)) & jnp.uint32(1)
    return bits.reshape(words.shape[0], -1) != 0


def shift_rows(words: Packed, amount: Int32[Array, "rows"], *, width: int, reach: int) -> Packed:
    """Return `width` words a row: row i moved right by amount[i] cells (left if negative), zeros moving in.

    Amounts are traced values within [-32 reach, 32 reach); what leaves the words is lost. A barrel shifter: whole words
    by powers of two, then the rest of the cells.
    """
    move = jnp.int32(WORD * reach) - amount
    whole, rest = move >> jnp.int32(5), (move & jnp.int32(31)).astype(jnp.uint32)[:, None]
    stages = (2 * reach).bit_length()
    longest = width + 2**stages
    words = jnp.pad(words, ((0, 0), (reach, max(longest - reach - words.shape[1], 0))))[:, :longest]
    for k in reversed(range(stages)):
        longest = width + 2**k
        far = ((whole >> jnp.int32(k)) & jnp.int32(1))[:, None] != 0
        words = jnp.where(far, words[:, 2**k : 2**k + longest], words[:, :longest])
    # A shift by 32 is undefined, so the upper part moves by 31 - rest and once more.
    return (words[:, :width] >> rest) | ((words[:, 1:] << (jnp.uint32(31) - rest)) << jnp.uint32(1))


def _framed(words: Packed, outside: int, rows: int) -> Packed:
    return jnp.pad(words, ((rows, rows), (1, 1)), constant_values=jnp.uint32(outside))


def _sideways(framed: Packed, cells: int) -> tuple[Packed, Packed]:
    """Return a picture with one word of frame moved right and left by some cells, its frame dropped."""
    near, far = jnp.uint32(cells), jnp.uint32(WORD - cells)
    before, at, after = framed[:, :-2], framed[:, 1:-1], framed[:, 2:]
    return (at << near) | (before >> far), (at >> near) | (after << far)


def dilate_disk(words: Packed) -> Packed:
    """Return the packed mask with a 13-pixel disk (du^2 + dv^2 <= 4) at every set pixel."""
    framed = _framed(words, 0, 2)
    at = framed[:, 1:-1]
    right, left = _sideways(framed, 1)
    right2, left2 = _sideways(framed, 2)
    three = at | right | left
    five = (three | right2 | left2)[2:-2]
    return five | three[1:-3] | three[3:-1] | at[:-4] | at[4:]


def close_cross(words: Packed) -> Packed:
    """Return the closing of the packed mask with the 3 x 3 cross; the outside never erodes the border."""
    framed = _framed(words, 0, 1)
    right, left = _sideways(framed[1:-1], 1)
    grown = words | right | left | framed[:-2, 1:-1] | framed[2:, 1:-1]
    framed = _framed(grown, FULL, 1)
    right, left = _sideways(framed[1:-1], 1)
    return grown & right & left & framed[:-2, 1:-1] & framed[2:, 1:-1]


def transpose(words: UInt32[Array, "rows words"]) -> UInt32[Array, "rows words"]:
    """Return the packed transpose of a square mask: five rounds of exchanging ever smaller blocks of bits."""
    size = words.shape[0]
    count = size // WORD
    # [block row, row in block, block column] -> the blocks change places, then each is transposed in itself.
    block = words.reshape(count, WORD, count)
    block = jnp.transpose(block, (1, 2, 0))
    for step, keep in ((16, 0x0000FFFF), (8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        pair = block.reshape(WORD // (2 * step), 2, step, count, count)
        low, high = pair[:, 0], pair[:, 1]
        low, high = (
            (low & jnp.uint32(keep)) | ((high & jnp.uint32(keep)) << jnp.uint32(step)),
            ((low >> jnp.uint32(step)) & jnp.uint32(keep)) | (high & jnp.uint32(FULL ^ keep)),
        )
        block = jnp.stack([low, high], axis=1).reshape(WORD, count, count)
    # Axes now: row in block, new block row, new block column.
    return jnp.transpose(block, (1, 0, 2)).reshape(size, count)
