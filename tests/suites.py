"""A suite folder of three small solids, 8,192-column bucket, for tests that play."""

import numpy as np

from rotajax.icons.outline import outline_points, plane_circle
from rotajax.tasks import folder
from rotajax.tasks.starts import draw_sequence

_SHAPES = (
    [(100, 400, 150, 200), (350, 400, 150, 340)],
    [(120, 170, 120, 380), (120, 400, 230, 270)],
    [(100, 160, 100, 300), (100, 300, 240, 300), (240, 300, 240, 420)],
)


def write_tiny_suite(path, *, licence="CC0"):
    """Write the suite and return its folder. Every other row and column is left out, which keeps the solids small."""
    rows, masks = [], {}
    for number, boxes in enumerate(_SHAPES):
        mask = np.zeros((512, 512), np.bool_)
        for top, bottom, left, right in boxes:
            mask[top:bottom, left:right] = True
        mask[1::2], mask[:, 1::2] = False, False
        task = f"single_{number:05d}"
        rows.append(
            {
                "id": task,
                "icon": {"path": f"shapes/{number}.svg", "author": "nobody", "licence": licence, "sha256": "0" * 64},
                "seed": 100 + number,
                "start": draw_sequence(number, 0),
                "symmetry_order": 1,
                "mirror": False,
                "mirror_angle_deg": None,
                "circle": list(plane_circle(outline_points(mask))),
                "mask_sha256": folder.mask_sha256(mask),
                "reference": None,
                "lower_bound": None,
            }
        )
        masks[task] = mask
    folder.write_suite(path, folder.make_document("tiny", rows), masks)
    return path
