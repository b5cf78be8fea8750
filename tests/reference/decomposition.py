"""The split of a rotation into direction and angle (section 3.4), in float64."""

from dataclasses import dataclass

import numpy as np

from . import rotation

TIE_DEG = 1e-9  # successor errors closer than this are the same best angle


@dataclass(frozen=True)
class Decomposed:
    """effective: whether the chosen direction can reduce the pose error. The rest is None where it cannot."""

    effective: bool
    best: bool | None = None
    gap_deg: float | None = None
    loss_deg: float | None = None


def decompose(pose: np.ndarray, action: int, group: np.ndarray) -> Decomposed:
    """The decomposition of one rotation (action 0..23) taken at the pose."""
    direction, chosen = divmod(action, 4)
    errors = [
        rotation.pose_error_deg(rotation.apply(np.asarray(pose, np.float64), 4 * direction + k), group)
        for k in range(4)
    ]
    least = min(errors)
    if not least < rotation.pose_error_deg(pose, group):
        return Decomposed(effective=False)
    best = [k for k in range(4) if errors[k] - least <= TIE_DEG]
    return Decomposed(
        effective=True,
        best=chosen in best,
        gap_deg=float(min(abs(rotation.ANGLES[chosen] - rotation.ANGLES[k]) for k in best)),
        loss_deg=errors[chosen] - least,
    )


def rates(rows: list[Decomposed]) -> dict[str, float]:
    """Pooled over all rotations: percentages and means; the angle's over effective directions (NaN without one)."""
    effective = [row for row in rows if row.effective]

    def mean(values: list[float]) -> float:
        return float(np.mean(values)) if values else float("nan")

    return {
        "effective_direction_pct": 100.0 * mean([row.effective for row in rows]),
        "best_legal_angle_pct": 100.0 * mean([row.best for row in effective]),
        "angle_gap_deg": mean([row.gap_deg for row in effective]),
        "angle_loss_deg": mean([row.loss_deg for row in effective]),
    }
