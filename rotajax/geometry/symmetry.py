"""Planar symmetries of an outline and the group of 3D rotations they make: `estimate`, `group`, `group_size`.

Appendix D. Host code: NumPy and one KD-tree, run once when a task is built.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.spatial import cKDTree  # pyright: ignore[reportAttributeAccessIssue]

from rotajax.checks import require

MAX_ORDER = 12
GROUP_CAPACITY = 2 * MAX_ORDER
CLOSURE_TOLERANCE = 1e-6  # Frobenius norm

_SAMPLE = 1500
_COARSE_STEP_DEG = 2.0
_REFINED = 4  # reflections that are refined
_REFINE_WITHIN_DEG = 2.0
_REFINE_STEPS_DEG = (0.25, 0.05)
_FIRST_BATCH = 64


@dataclass(frozen=True)
class Symmetry:
    """The planar symmetries kept for one outline.

    order: 1..12, rotations by 360 k / order are symmetries (1 means the identity only).
    mirror_angle_deg: None, or the angle alpha in [0, 360 / order) of the reflection Rot(alpha) diag(1, -1). Its axis
        lies at alpha / 2. With one reflection all `order` reflections alpha + 360 k / order are symmetries.
    """

    order: int
    mirror_angle_deg: float | None = None

    @property
    def axes_deg(self) -> tuple[float, ...]:
        """Angles of the mirror axes in [0, 180), degrees from +x towards +y (clockwise on screen)."""
        if self.mirror_angle_deg is None:
            return ()
        return tuple((self.mirror_angle_deg + 360.0 * k / self.order) / 2.0 for k in range(self.order))


@dataclass(frozen=True)
class _Match:
    """How far a point set lies from its image."""

    excess: float  # the two tested statistics over their bounds, the larger: the check passes up to 1
    cost: float  # orders the maps that pass

    @property
    def passes(self) -> bool:
        return self.excess <= 1.0

    @property
    def rank(self) -> tuple[float, float]:
        return (max(self.excess, 1.0), self.cost)


_NO_MATCH = _Match(np.inf, np.inf)


class _Matcher:
    """Nearest-neighbour distances between a point set and its images under planar orthogonal maps."""

    def __init__(self, points: np.ndarray):
        self.points = points
        self.tree = cKDTree(points, balanced_tree=False, compact_nodes=False)
        count = min(len(points), _SAMPLE)
        # Evenly indexed, then dealt into strides so that the first batch already covers the whole outline.
        even = np.arange(count) * (len(points) - 1) // max(count - 1, 1)
        self.sample = points[np.concatenate([even[start::23] for start in range(23)])]
        nearest_other = self.tree.query(self.sample, k=2)[0][:, 1]
        spacing = float(np.median(nearest_other))
        self.tolerance = 3.0 * spacing + 1e-6
        self.half_cell = spacing / np.sqrt(2.0)

    def match(self, queries: np.ndarray, matrix: np.ndarray, *, slack: float = 0.0) -> _Match:
        """The match of `queries` under `matrix`; infinite as soon as a distance exceeds 2 tau + slack.

        The distance from p to the set moved by Q is the distance from Q^-1 p to the set at rest, so one tree serves
        both directions; a reflection is its own inverse and needs one only.
        """
        limit = 2.0 * self.tolerance + slack
        both = (matrix,) if np.linalg.det(matrix) < 0.0 else (matrix, matrix.T)
        excess, cost = 0.0, 0.0
        for direction in both:
            moved = queries @ direction.T
            parts = []
            for part in (moved[:_FIRST_BATCH], moved[_FIRST_BATCH:]):
                # The bound of the tree is exclusive; the check is not.
                distance = self.tree.query(part, distance_upper_bound=limit * (1.0 + 1e-9))[0]
                if distance.size and distance.max() > limit:
                    return _NO_MATCH
                parts.append(distance)
            distance = np.concatenate(parts)
            p99 = float(np.percentile(distance, 99.0))
            excess = max(excess, p99 / self.tolerance, float(distance.max()) / (2.0 * self.tolerance))
            # Inside the outline a distance tells of the pixel lattice, up to its cell's half diagonal; past that, of
            # the outline. The lattice has a small say, for an axis that maps it onto itself is the drawn one.
            cost = max(cost, float(np.maximum(distance - self.half_cell, 0.0).mean() + 0.1 * distance.mean()))
        return _Match(excess, cost)

    def accepts(self, matrices: list[np.ndarray]) -> bool:
        """Whether every map passes with the sample and then with all points."""
        return all(self.match(self.sample, m).passes for m in matrices) and all(
            self.match(self.points, m).passes for m in matrices
        )


def estimate(points: np.ndarray) -> Symmetry:
    """The symmetries of an outline about the origin.

    points: float64 [N, 2], N >= 2, the plane coordinates of the solid, centred at the enclosing circle.
    Raises ValueError for another shape, fewer than two points or values that are not finite.
    Source: Appendix D. Orders 12..2, the first that passes; reflections in steps of 2 degrees, the four best refined
    within 2 degrees; of those, the one that crosses the outline least is tried first.

    >>> x, y = np.meshgrid(np.arange(-9.0, 10.0), np.arange(-4.0, 5.0))
    >>> estimate(np.stack([x.ravel(), y.ravel()], axis=1))
    Symmetry(order=2, mirror_angle_deg=0.0)
    """
    points = np.asarray(points, dtype=np.float64)
    right = points.ndim == 2 and points.shape[1] == 2 and len(points) >= 2
    require(right, "symmetry.estimate: points", "an array [N, 2] with N >= 2", list(points.shape))
    require(bool(np.isfinite(points).all()), "symmetry.estimate: points", "finite numbers", "NaN or infinity")
    matcher = _Matcher(points)
    order = _rotational_order(matcher)
    return Symmetry(order, _mirror(matcher, order))


def group(symmetry: Symmetry) -> np.ndarray:
    """The 3D rotations S(Q) of the symmetry: float32 [24, 3, 3], the identity first, padded with the identity.

    Raises ValueError where the order is not in 1..12 or the set is not closed to 1e-6. Source: equation 7.

    >>> group(Symmetry(2)).shape, group(Symmetry(2))[1].diagonal().tolist()
    ((24, 3, 3), [-1.0, -1.0, 1.0])
    """
    require(1 <= symmetry.order <= MAX_ORDER, "symmetry.group: order", f"1 to {MAX_ORDER}", symmetry.order)
    planar = _rotations(symmetry.order)
    if symmetry.mirror_angle_deg is not None:
        planar = planar + _reflections(symmetry.mirror_angle_deg, symmetry.order)
    lifted = np.stack([_lift(matrix) for matrix in planar])
    require_closed(lifted)
    padded = np.broadcast_to(np.eye(3), (GROUP_CAPACITY, 3, 3)).copy()
    padded[: len(lifted)] = lifted
    return padded.astype(np.float32)


def group_size(symmetry: Symmetry) -> int:
    """How many of the rows of `group` are distinct symmetries: the order, doubled by a mirror."""
    return symmetry.order * (1 if symmetry.mirror_angle_deg is None else 2)


def require_closed(matrices: np.ndarray) -> None:
    """Raises ValueError unless every product of two of the float64 [G, 3, 3] matrices is one of them to 1e-6."""
    products = np.einsum("aij,bjk->abik", matrices, matrices)
    gaps = np.linalg.norm(products[:, :, None] - matrices, axis=(-2, -1)).min(axis=2)
    gap = float(gaps.max())
    require(
        gap <= CLOSURE_TOLERANCE, "symmetry.group: products", f"a closed set to {CLOSURE_TOLERANCE:g}", f"{gap:.3g}"
    )


def _rotational_order(matcher: _Matcher) -> int:
    screened: dict[Fraction, bool] = {}

    def screens(turn: Fraction) -> bool:
        if turn not in screened:
            screened[turn] = matcher.match(matcher.sample, _rotation(360.0 * float(turn))).passes
        return screened[turn]

    for order in range(MAX_ORDER, 1, -1):
        # Turns past a half are the inverses of these, and a match looks in both directions.
        turns = [Fraction(k, order) for k in range(1, order // 2 + 1)]
        if all(map(screens, turns)) and matcher.accepts([_rotation(360.0 * float(turn)) for turn in turns]):
            return order
    return 1


def _mirror(matcher: _Matcher, order: int) -> float | None:
    # A turn by a degrees moves a point by at most radius * a: what is further off cannot be refined into a match.
    radius = float(np.hypot(matcher.points[:, 0], matcher.points[:, 1]).max())
    slack = radius * np.radians(_REFINE_WITHIN_DEG)
    seen: dict[float, _Match] = {}  # the windows of neighbouring candidates overlap

    def ranked(angles: np.ndarray) -> list[tuple[tuple[float, float], float]]:
        found = []
        for angle in np.round(angles, 2).tolist():
            if angle not in seen:
                seen[angle] = matcher.match(matcher.sample, _reflection(angle), slack=slack)
            if np.isfinite(seen[angle].excess):
                found.append((seen[angle].rank, angle))
        return sorted(found)

    refined = set()
    for _, coarse in ranked(np.arange(0.0, 360.0, _COARSE_STEP_DEG))[:_REFINED]:
        best, within = coarse, _REFINE_WITHIN_DEG
        for step in _REFINE_STEPS_DEG:
            steps = round(within / step)
            near = best + step * np.arange(-steps, steps + 1)
            best, within = ranked(near[np.abs(near - coarse) <= _REFINE_WITHIN_DEG + 1e-9])[0][1], step
        refined.add(best)
    for _, angle in ranked(np.array(sorted(refined))):
        if matcher.accepts(_reflections(angle, order)):
            return round(angle % (360.0 / order), 6)
    return None


def _rotation(angle_deg: float) -> np.ndarray:
    c, s = np.cos(np.radians(angle_deg)), np.sin(np.radians(angle_deg))
    return np.array([[c, -s], [s, c]])


def _reflection(angle_deg: float) -> np.ndarray:
    c, s = np.cos(np.radians(angle_deg)), np.sin(np.radians(angle_deg))
    return np.array([[c, s], [s, -c]])


def _rotations(order: int) -> list[np.ndarray]:
    return [_rotation(360.0 * k / order) for k in range(order)]


def _reflections(angle_deg: float, order: int) -> list[np.ndarray]:
    return [_reflection(angle_deg + 360.0 * k / order) for k in range(order)]


def _lift(planar: np.ndarray) -> np.ndarray:
    lifted = np.zeros((3, 3))
    lifted[:2, :2] = planar
    lifted[2, 2] = np.linalg.det(planar)
    return lifted
