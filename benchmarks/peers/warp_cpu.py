"""NVIDIA Warp on the CPU + OpenCV: a kernel launch a pose, one thread a column."""

from collections.abc import Callable

import cv2
import numpy as np
import warp as wp

from benchmarks.peers import SIZE, Points
from benchmarks.peers.morphology import finish

wp.config.quiet = True


@wp.kernel(enable_backward=False)
def _mark(
    x: wp.array(dtype=wp.float32),
    y: wp.array(dtype=wp.float32),
    z: wp.array2d(dtype=wp.float32),
    R: wp.array2d(dtype=wp.float32),
    marks: wp.array2d(dtype=wp.uint8),
):
    i = wp.tid()
    across = R[0, 0] * x[i] + R[0, 1] * y[i]
    down = R[1, 0] * x[i] + R[1, 1] * y[i]
    for j in range(z.shape[1]):
        u = wp.int32(wp.rint(160.0 + 5.0 * (across + R[0, 2] * z[i, j])))
        v = wp.int32(wp.rint(160.0 + 5.0 * (down + R[1, 2] * z[i, j])))
        marks[v, u] = wp.uint8(1)


def masks(points: Points, cores: int) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function from poses to masks; Warp runs a kernel on one core of a CPU whatever `cores` says."""
    cv2.setNumThreads(cores)
    x, y, z = (wp.array(v, dtype=wp.float32, device="cpu") for v in (points.x, points.y, points.z))

    def one(R: np.ndarray) -> np.ndarray:
        marks = wp.zeros((SIZE, SIZE), dtype=wp.uint8, device="cpu")
        pose = wp.array(R, dtype=wp.float32, device="cpu")
        wp.launch(_mark, dim=len(points.x), inputs=[x, y, z, pose, marks], device="cpu")
        return finish(marks.numpy())

    return lambda poses: np.stack([one(R) for R in np.ascontiguousarray(poses, np.float32)])
