"""`build_suite`: a suite folder from a folder of icons: scan, outlines, starts, hashes."""

import hashlib
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from rotajax.checks import require, require_at_least, require_folder
from rotajax.compare import iou
from rotajax.geometry.solid import BUCKETS, Solid, make_solid
from rotajax.icons.outline import outline_points, plane_points
from rotajax.icons.pool import cores
from rotajax.icons.scan import IconRecord, accepted_mask, scan
from rotajax.render.splat import splat
from rotajax.tasks import folder
from rotajax.tasks.outline import Outline, outline_of
from rotajax.tasks.starts import SUCCESS_IOU, draw_sequence, start_pose

TRIES = 100
TRIVIAL = f"rotationally trivial, {TRIES} starts were all aligned"


def build_suite(
    icons: str | Path,
    out: str | Path,
    *,
    suite_id: str | None = None,
    limit: int | None = None,
    seed: int = 0,
    workers: int | None = None,
) -> Path:
    """Build a suite from every accepted icon of a folder, or from `limit` of them drawn by `seed`; return its folder.

    A task depends on its icon, its place among the accepted icons and the seed, never on `limit`, workers or caches:
    the same input gives the same bytes. Icons whose every start is aligned are left out and named. Raises ValueError
    for a folder without accepted icons, a limit below 1 or above what there is, an `out` that holds something else.
    """
    icons, out = require_folder(icons, "suite build: --icons"), Path(out)
    if limit is not None:
        require_at_least(limit, 1, "suite build: --limit")
    folder.require_free(out)
    accepted = [r for r in scan(icons, workers=workers) if r.status == "accepted"]
    require(len(accepted) > 0, f"suite build: icons in '{icons}'", "at least one that passes the filters", "none")
    named = [(f"single_{index:05d}", record) for index, record in enumerate(accepted)]
    require(limit is None or limit <= len(named), "suite build: --limit", f"at most {len(named)} accepted icons", limit)
    waiting = named if limit is None else ranked(named, seed)
    rows, masks = [], {}
    while waiting and (limit is None or len(rows) < limit):
        count = len(waiting) if limit is None else limit - len(rows)
        chosen, waiting = waiting[:count], waiting[count:]
        outlines = measure_outlines(icons, [record for _, record in chosen], workers)
        progress = tqdm(zip(chosen, outlines, strict=True), "starts", len(chosen), unit="task", file=sys.stderr)
        for (task_id, record), (mask, outline) in progress:
            row = make_row(task_id, record, mask, outline, seed)
            if row is None:
                tqdm.write(f"{task_id} ({record.path}): left out: {TRIVIAL}", file=sys.stderr)
                continue
            rows.append(row)
            masks[task_id] = mask
    rows.sort(key=lambda row: row["id"])
    require(len(rows) > 0, f"suite build: icons in '{icons}'", "at least one that is not rotationally trivial", "none")
    document = folder.make_document(suite_id or out.name, rows)
    folder.write_suite_whole(out, document, masks)
    return out


def ranked(named: list[tuple[str, IconRecord]], seed: int) -> list[tuple[str, IconRecord]]:
    """Return the icons in the order in which a seed draws them: by SHA-256 of (seed, path)."""
    return sorted(named, key=lambda item: hashlib.sha256(f"{seed} {item[1].path}".encode()).digest())


def task_seed(seed: int, path: str) -> int:
    """Return the 32-bit seed of a task: of its depth samples and of its start."""
    return int.from_bytes(hashlib.sha256(f"rotajax.task/1 {seed} {path}".encode()).digest()[:4], "big")


def measure_outlines(icons: Path, records: list[IconRecord], workers: int | None) -> list[tuple[np.ndarray, Outline]]:
    """Return mask, circle and symmetry of every icon, over a pool of processes."""
    masks = [accepted_mask(icons / record.path) for record in records]
    workers = min(workers or cores(), len(masks))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        outlines = list(tqdm(pool.map(outline_of, masks), "symmetries", len(masks), unit="icon", file=sys.stderr))
    return list(zip(masks, outlines, strict=True))


def make_row(task_id: str, record: IconRecord, mask: np.ndarray, outline: Outline, seed: int) -> dict | None:
    """Return the suite row of a task, or None where 100 drawn starts were all aligned with the target."""
    number = task_seed(seed, record.path)
    points = plane_points(outline_points(mask), outline.circle)
    solid = make_solid(points, number, size=BUCKETS[-1])
    start = draw_start(solid, number)
    if start is None:
        return None
    return {
        "id": task_id,
        "icon": {k: asdict(record)[k] for k in ("path", "author", "licence", "sha256")},
        "seed": number,
        "start": start,
        "symmetry_order": outline.symmetry.order,
        "mirror": outline.symmetry.mirror_angle_deg is not None,
        "mirror_angle_deg": outline.symmetry.mirror_angle_deg,
        "circle": list(outline.circle),
        "mask_sha256": folder.mask_sha256(mask),
        "reference": None,
        "lower_bound": None,
    }


def draw_start(solid: Solid, seed: int) -> list[str] | None:
    """Return the first of 100 drawn sequences whose pose is not aligned, or None (section 3.3)."""
    for attempt in range(TRIES):
        sequence = draw_sequence(seed, attempt)
        if float(_start_iou(solid, start_pose(sequence))) < SUCCESS_IOU:
            return sequence
    return None


@jax.jit
def _start_iou(solid: Solid, R: jax.Array) -> jax.Array:
    """Return the IoU of the exact silhouettes at a pose and at the target."""
    return iou(splat(solid, R), splat(solid, jnp.eye(3, dtype=jnp.float32)))
