"""Numba + OpenCV: a compiled loop over the columns, with poses in parallel where there are cores."""

from collections.abc import Callable

import cv2
import numba
import numpy as np

from benchmarks.peers import CENTRE, SCALE, SIZE, Points
from benchmarks.peers.morphology import finish

SAMPLES = 31


@numba.njit
def _mark(x, y, z, R, marks):
    index = np.empty(SAMPLES, np.int32)
    for i in range(len(x)):
        across = R[0, 0] * x[i] + R[0, 1] * y[i]
        down = R[1, 0] * x[i] + R[1, 1] * y[i]
        # Arithmetic apart from the writes: this loop is vectorised, and the whole is a third faster for it.
        for j in range(SAMPLES):
            u = np.int32(np.rint(CENTRE + SCALE * (across + R[0, 2] * z[i, j])))
            v = np.int32(np.rint(CENTRE + SCALE * (down + R[1, 2] * z[i, j])))
            index[j] = v * np.int32(SIZE) + u
        for j in range(SAMPLES):
            marks[index[j]] = 1


@numba.njit(parallel=True)
def _mark_parallel(x, y, z, poses, marks):
    for k in numba.prange(len(poses)):
        _mark(x, y, z, poses[k], marks[k])


@numba.njit
def _mark_in_turn(x, y, z, poses, marks):
    for k in range(len(poses)):
        _mark(x, y, z, poses[k], marks[k])


def masks(points: Points, cores: int) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function from poses to masks: parallel over poses with more than one core, a plain loop with one."""
    cv2.setNumThreads(cores)
    numba.set_num_threads(cores)
    kernel = _mark_parallel if cores > 1 else _mark_in_turn

    def run(poses: np.ndarray) -> np.ndarray:
        marks = np.zeros((len(poses), SIZE * SIZE), np.uint8)
        kernel(points.x, points.y, points.z, np.ascontiguousarray(poses, np.float32), marks)
        return np.stack([finish(m) for m in marks.reshape(-1, SIZE, SIZE)])

    return run
