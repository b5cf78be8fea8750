"""The paper's rows for the four ground-truth policies, in the keys of summary.json.

Source: RoTA-Bench, Tables 1 and 9: 100 test tasks; the random policies average three seeds within each task.
"""

SOURCE = "RoTA-Bench, Tables 1 and 9 (100 test tasks)"

_COLUMNS = (
    "success_pct",
    "final_iou",
    "steps",
    "effective_direction_pct",
    "best_legal_angle_pct",
    "angle_gap_deg",
    "angle_loss_deg",
    "final_pose_error_deg",
    "pose_improving_pct",
    "iou_change_per_step",
    "pose_reduction_per_step_deg",
)
_VALUES = {
    "uniform_random": (0.0, 0.473, 22.23, 53.78, 23.45, 17.05, 7.67, 102.11, 48.94, -0.0003, -0.4365),
    "random_rollback": (0.7, 0.545, 35.57, 57.52, 30.69, 14.53, 6.48, 88.83, 52.14, 0.0018, 0.1002),
    "iou_greedy": (39.0, 0.725, 16.49, 63.86, 40.46, 15.45, 8.00, 79.06, 54.82, 0.0280, 2.8687),
    "pose_greedy": (100.0, 0.924, 8.32, 100.0, 100.0, 0.00, 0.00, 1.67, 100.0, 0.0535, 10.9053),
}
PAPER_ROWS = {policy: dict(zip(_COLUMNS, values, strict=True)) for policy, values in _VALUES.items()}
