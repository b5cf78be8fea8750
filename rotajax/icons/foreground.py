"""Foreground mask of a rasterised icon (Appendix G, equation 9)."""

import numpy as np

ALPHA = 8  # a pixel at or below this opacity is background
DISTANCE = 30  # so is one whose RGB lies within this L1 distance of the background colour


def background(rgba: np.ndarray) -> np.ndarray:
    """Return the background colour float64 [3]: the median of the four corners, a channel at a time.

    The median keeps the colour when one corner is covered by the drawing. A transparent corner counts
    with the RGB it carries, (0, 0, 0) from the rasteriser.
    """
    corners = rgba[[0, 0, -1, -1], [0, -1, 0, -1], :3]
    return np.median(corners.astype(np.float64), axis=0)


def foreground(rgba: np.ndarray) -> np.ndarray:
    """Return the foreground mask Bool[H, W] of `rgba` UInt8[H, W, 4].

    A pixel is kept when its alpha is above 8 and its RGB differs from the background colour by more than
    30 in L1 distance (equation 9). Raises ValueError for another shape or dtype.

    >>> picture = np.zeros((4, 4, 4), np.uint8)
    >>> picture[1, 2] = 255
    >>> np.argwhere(foreground(picture)).tolist()
    [[1, 2]]
    """
    if rgba.dtype != np.uint8 or rgba.ndim != 3 or rgba.shape[2] != 4 or rgba.size == 0:
        raise ValueError(f"icons.foreground: expected uint8 [H, W, 4], got {rgba.dtype} {list(rgba.shape)}")
    # Twice everything, in small integers: a median of four may end in .5, and this is done 4,000 times a scan.
    colour = np.rint(2 * background(rgba)).astype(np.int16)
    distance = np.zeros(rgba.shape[:2], np.int16)
    for channel in range(3):
        distance += np.abs(2 * rgba[..., channel].astype(np.int16) - colour[channel])
    return (rgba[..., 3] > ALPHA) & (distance > 2 * DISTANCE)
