"""NumPy + OpenCV: whole-array arithmetic, a block of points at a time."""

from collections.abc import Callable

import cv2
import numpy as np

from benchmarks.peers import CENTRE, SCALE, SIZE, Points
from benchmarks.peers.morphology import finish

BLOCK = 1 << 15


def masks(points: Points, cores: int) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function from poses to masks; NumPy uses one core whatever `cores` says."""
    cv2.setNumThreads(cores)
    xyz = points.coordinates()
    blocks = [tuple(v[i : i + BLOCK] for v in xyz) for i in range(0, len(xyz[0]), BLOCK)]

    def one(R: np.ndarray) -> np.ndarray:
        marks = np.zeros(SIZE * SIZE, np.uint8)
        for x, y, z in blocks:
            u, v = (
                np.rint(CENTRE + SCALE * ((R[k, 0] * x + R[k, 1] * y) + R[k, 2] * z)).astype(np.int32) for k in (0, 1)
            )
            marks[v * SIZE + u] = 1
        return finish(marks.reshape(SIZE, SIZE))

    return lambda poses: np.stack([one(R) for R in np.asarray(poses, np.float32)])
