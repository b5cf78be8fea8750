"""The paper's rows in the keys of summary.json: `PAPER_ROWS` by policy of ours, `PAPER_OTHERS` people and models.

Source: RoTA-Bench, Tables 1 and 9: 100 test tasks; the random policies average three seeds within each task.
"""

from rotajax.analysis.summary import METRICS

SOURCE = "RoTA-Bench, Tables 1 and 9 (100 test tasks)"

_WITHOUT_COVERAGE = tuple(name for name in METRICS if name != "coverage_pct")
_VALUES = {
    "uniform_random": (0.0, 0.473, 22.23, 53.78, 23.45, 17.05, 7.67, 102.11, 48.94, -0.0003, -0.4365),
    "random_rollback": (0.7, 0.545, 35.57, 57.52, 30.69, 14.53, 6.48, 88.83, 52.14, 0.0018, 0.1002),
    "iou_greedy": (39.0, 0.725, 16.49, 63.86, 40.46, 15.45, 8.00, 79.06, 54.82, 0.0280, 2.8687),
    "pose_greedy": (100.0, 0.924, 8.32, 100.0, 100.0, 0.00, 0.00, 1.67, 100.0, 0.0535, 10.9053),
}
PAPER_ROWS = {policy: dict(zip(_WITHOUT_COVERAGE, values, strict=True)) for policy, values in _VALUES.items()}
_OTHERS = {
    "Human": (100.0, 0.923, 16.22, 83.07, 83.91, 71.82, 2.99, 0.96, 4.44, 77.88, 0.0273, 5.4238),
    "ReAct": (16.0, 0.628, 24.62, 79.08, 59.59, 58.01, 7.44, 2.81, 82.69, 52.84, 0.006, 0.3944),
    "Gemini 3.6 Flash": (10.0, 0.607, 24.68, 74.72, 61.87, 61.69, 5.47, 1.99, 60.88, 53.57, 0.0052, 1.2771),
    "GPT-5.6-Sol": (17.0, 0.598, 23.66, 79.58, 58.75, 61.8, 6.49, 2.25, 85.25, 52.16, 0.005, 0.3021),
    "GPT-6-Astra": (10.0, 0.578, 23.18, 78.93, 55.78, 67.36, 5.85, 2.14, 84.5, 50.09, 0.0043, 0.3408),
    "GPT-5.6-Terra": (8.0, 0.554, 22.91, 73.13, 56.31, 53.8, 8.5, 3.58, 92.48, 50.28, 0.0033, -0.0035),
    "GPT-5.6-Luna": (4.0, 0.553, 24.29, 71.56, 57.64, 50.86, 9.15, 4.03, 93.66, 50.8, 0.003, -0.0518),
    "Magentic": (2.0, 0.529, 16.0, 59.71, 58.31, 49.95, 9.77, 4.12, 91.49, 50.5, 0.0031, 0.0566),
    "Qwen 3.7 Plus": (0.0, 0.504, 21.03, 52.02, 52.4, 47.46, 9.96, 4.9, 93.32, 47.84, 0.0012, -0.044),
    "Claude Sonnet 5": (0.0, 0.492, 19.39, 58.66, 53.38, 70.53, 6.1, 2.15, 106.91, 46.88, 0.0006, -0.7482),
    "Claude Opus 5": (0.0, 0.484, 22.09, 62.4, 53.28, 65.68, 6.85, 2.29, 102.13, 47.62, 0.0002, -0.4403),
    "SpatioLM-InternVL3.5": (0.0, 0.463, 18.81, 66.85, 46.15, 13.36, 16.55, 8.61, 111.35, 40.72, -0.0009, -1.0074),
}
PAPER_OTHERS = {name: dict(zip(METRICS, values, strict=True)) for name, values in _OTHERS.items()}
