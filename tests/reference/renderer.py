"""The pictures of Appendix G: mask, auxiliary view, panel, and the IoU of equation 3."""

import math

import cv2
import numpy as np

SIZE = 320
CENTRE = 160.0
SCALE = 5.0
VIEW_SCALE = 0.9 * SCALE
BACKGROUND = 18
STRIP = 12
DISK = [(du, dv) for dv in range(-2, 3) for du in range(-2, 3) if du * du + dv * dv <= 4]


def project_points(xyz: np.ndarray, R: np.ndarray) -> np.ndarray:
    """The rotated points R p, float32 [N, 3], as sums written out in float32."""
    x, y, z = (np.asarray(xyz[:, axis], dtype=np.float32) for axis in range(3))
    R = np.asarray(R, dtype=np.float32)
    return np.stack([R[row, 0] * x + R[row, 1] * y + R[row, 2] * z for row in range(3)], axis=1)


def pixels(rotated: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Column u and row v of each rotated point, rounded half to even in float32; may lie outside the picture."""
    u = np.rint(np.float32(CENTRE) + np.float32(scale) * rotated[:, 0])
    v = np.rint(np.float32(CENTRE) + np.float32(scale) * rotated[:, 1])
    return u.astype(np.int64), v.astype(np.int64)


def mask(xyz: np.ndarray, R: np.ndarray) -> np.ndarray:
    """The silhouette, bool [320, 320]: a disk of 13 pixels a point, then one closing with the 3x3 ellipse."""
    u, v = pixels(project_points(xyz, R), SCALE)
    picture = np.zeros((SIZE, SIZE), dtype=np.uint8)
    for du, dv in DISK:
        inside = _inside(u + du, v + dv)
        picture[(v + dv)[inside], (u + du)[inside]] = 255
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (3, 3))
    return cv2.morphologyEx(picture, cv2.MORPH_CLOSE, kernel) > 0


def shaded(xyz: np.ndarray, R: np.ndarray) -> np.ndarray:
    """The auxiliary view before smoothing, uint8 [320, 320]: the brightest disk wins over the background."""
    rotated = project_points(xyz, R)
    u, v = pixels(rotated, VIEW_SCALE)
    brightness = np.float32(110.0) + np.float32(6.0) * rotated[:, 2] + np.float32(1.8) * rotated[:, 0]
    intensity = np.clip(brightness, np.float32(40.0), np.float32(235.0)).astype(np.int64)
    picture = np.full((SIZE, SIZE), BACKGROUND, dtype=np.int64)
    for du, dv in DISK:
        inside = _inside(u + du, v + dv)
        fall = math.floor(2.2 * math.sqrt(du * du + dv * dv))
        np.maximum.at(picture, ((v + dv)[inside], (u + du)[inside]), intensity[inside] - fall)
    return picture.astype(np.uint8)


def view(xyz: np.ndarray, R: np.ndarray) -> np.ndarray:
    """The depth-shaded auxiliary view, uint8 [320, 320]: two 3x3 Gaussian passes over `shaded`."""
    picture = shaded(xyz, R)
    for _ in range(2):
        picture = cv2.GaussianBlur(picture, (3, 3), 0)
    return picture


def panel(target: np.ndarray, view: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Target mask | auxiliary view | current mask, uint8 [320, 972], two strips of 6 columns between them."""
    strip = np.full((SIZE, 6), STRIP, dtype=np.uint8)
    white = [np.where(picture, 255, 0).astype(np.uint8) for picture in (target, mask)]
    return np.concatenate([white[0], strip, view, strip, white[1]], axis=1)


def iou(a: np.ndarray, b: np.ndarray) -> float:
    """|a and b| / |a or b| of two bool pictures; 1 where both are empty."""
    union = int(np.logical_or(a, b).sum())
    return int(np.logical_and(a, b).sum()) / union if union else 1.0


def _inside(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return (u >= 0) & (u < SIZE) & (v >= 0) & (v < SIZE)
