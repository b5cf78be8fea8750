"""How far a span IoU can be from the exact one, and whether the oracle errs: real icons. Writes one JSON line.

    python benchmarks/margin.py --icons DIR --out benchmarks/results/margin.jsonl

All accepted icons in turn, in random order. Of an icon's poses half turn the target by up to 30 degrees about a random
axis, half are uniform. The error is span IoU - exact IoU against the exact target mask. `pair` is the largest
difference of two errors of one solid: the order of two of its poses is certain where their span IoUs differ by more.
`sparse` is the error of what the certified renderer draws first, one of the oracle's stages. `goal` is the error where
the exact IoU is within 0.05 of the success threshold.

It fails, with 1, where the oracle or the search relies on less than was measured.

`walk`: from a uniform pose on, the successor of the highest exact IoU is taken at every step, as IoU greedy does, and
all 24 successors are drawn in every way. Errors of one icon's poses go together, and one icon in 600 has twice the
error of the others. `wrong` counts the states where the oracle chose another successor; `behind` is how far the best
one lies below the best in half-size spans, the oracle's first stage.
"""

import argparse
import functools
import json
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import jaxlib
import numpy as np

from rotajax.compare import iou
from rotajax.devices import compiler_options
from rotajax.geometry.solid import BUCKETS, Solid, make_solid
from rotajax.icons import accepted_mask, outline_points, plane_circle, plane_points, scan
from rotajax.render.certified import completed, drafted
from rotajax.render.packed import close_cross, pack
from rotajax.render.skeleton import Skeleton, skeleton
from rotajax.render.splat import splat
from rotajax.search.ground import SPAN_MARGIN
from rotajax.search.oracle import (
    ABOVE_SPAN,
    ABOVE_SPARSE,
    ABOVE_SPARSE_CLOSE,
    CLOSE,
    COARSE_MARGIN,
    PAIR_MARGIN,
    best_by_iou,
)
from rotajax.search.score import halved, make_goal, span_iou
from rotajax.search.successors import successor_poses
from rotajax.tasks.starts import SUCCESS_IOU
from rotajax.types import Array

NEAR_DEG = 30.0
NEAR_GOAL = 0.05
# Compiled as the product's programs are.
as_spread = functools.partial(jax.jit, compiler_options=compiler_options(jax.default_backend()))


@as_spread
def three(solid: Solid, columns: Skeleton, target: Array, poses: Array) -> tuple[Array, Array, Array]:
    """The IoU of every pose with the target mask by `span`, by some of the skeleton's samples, and by `splat`."""
    goal, both = pack(target), make_goal(target)
    fast = jax.lax.map(lambda R: span_iou(columns, R, both), poses)
    sparse = jax.lax.map(lambda R: iou(close_cross(drafted(columns, R)).T, goal), poses)
    return fast, sparse, jax.lax.map(lambda R: iou(splat(solid, R), target), poses)


@functools.partial(as_spread, static_argnames="steps")
def walk(solid: Solid, columns: Skeleton, target: Array, R: Array, *, steps: int) -> tuple[Array, Array]:
    """The IoUs of all successors of `steps` states in four ways, [steps, 24, 4]: by half-size spans, by `span`, by some
    of the samples, exactly; and the oracle's choices. The next state is the successor that is best exactly."""
    goal, both, small = pack(target), make_goal(target), make_goal(halved(target))

    def ious(pose: Array) -> Array:
        draft = drafted(columns, pose)
        exact = iou(completed(solid, columns, pose, draft), goal)
        rough = (span_iou(columns, pose, form) for form in (small, both))
        return jnp.stack([*rough, iou(close_cross(draft).T, goal), exact])

    def step(R: Array, _: None) -> tuple[Array, tuple[Array, Array]]:
        poses = successor_poses(R)
        found = jax.lax.map(ious, poses)
        return poses[jnp.argmax(found[:, 3])], (found, best_by_iou(solid, columns, target, R).best)

    return jax.lax.scan(step, R, None, length=steps)[1]


def random_poses(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Poses, float32 [count, 3, 3], and their angles in degrees: first half near the target, then uniform ones."""
    q = rng.normal(size=(count, 4))
    near = count // 2
    half = np.radians(NEAR_DEG) * rng.random(near) ** 2 / 2  # a fourth of them within two degrees
    axis = q[:near, 1:] / np.linalg.norm(q[:near, 1:], axis=1, keepdims=True)
    q[:near] = np.c_[np.cos(half), np.sin(half)[:, None] * axis]
    w, x, y, z = (q / np.linalg.norm(q, axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    angles = np.degrees(2 * np.arccos(np.clip(np.abs(w), 0, 1)))
    return np.moveaxis(np.array(rows), 2, 0).astype(np.float32), angles


def near_goal(exact: np.ndarray) -> np.ndarray:
    """Which IoUs are near the threshold of success."""
    return np.abs(exact - SUCCESS_IOU) < NEAR_GOAL


def summary(errors: np.ndarray) -> dict[str, float]:
    """Mean, quantiles and extremes of errors; zeros where there are none."""
    errors = errors if errors.size else np.zeros(1)
    size = np.abs(errors)
    named = {"bias": errors.mean(), "mean": size.mean(), "max": size.max(), "low": errors.min(), "high": errors.max()}
    named |= {f"p{q}": np.quantile(size, q / 100) for q in (50, 99, 99.9, 99.99)}
    return {name: round(float(value), 6) for name, value in named.items()}


def walk_summary(found: np.ndarray, best: np.ndarray, icons: list[str]) -> dict:
    """What the walks tell, from Float[icons, steps, 24, 4] and the oracle's choices, Int[icons, steps]."""
    coarse, fine, sparse, exact = np.moveaxis(found, -1, 0)
    first = exact.argmax(-1)
    lag = coarse.max(-1) - np.take_along_axis(coarse, first[..., None], -1)[..., 0]
    error = fine - exact
    pair = np.ptp(error, axis=-1)
    wrong = np.argwhere(best != first)

    def icon(values: np.ndarray) -> str:
        return icons[int(values.reshape(len(icons), -1).max(1).argmax())]

    return {
        "states": int(best.size),
        "wrong": len(wrong),
        "where": [icons[row] for row, _ in wrong[:20]],
        "span": {"lowest_icon": icon(-error), **summary(error)},
        "pair": {"max": round(float(pair.max()), 6), "icon": icon(pair), "mean": round(float(pair.mean()), 6)},
        "sparse": {"lowest_icon": icon(exact - sparse), **summary((sparse - exact)[sparse <= CLOSE])},
        "sparse_close": summary((sparse - exact)[sparse > CLOSE]),
        "goal": summary(error[near_goal(exact)]),
        "behind": {"icon": icon(lag), **summary(lag)},
    }


def allowed(row: dict) -> list[tuple[str, float, float]]:
    """What the oracle and the search rely on: (what, allowed, measured), from a row."""
    walked = row["walk"]
    far, close = ([part[name]["low"] for part in (walked, row)] for name in ("sparse", "sparse_close"))
    return [
        ("best successor below the best, half-size spans", COARSE_MARGIN, walked["behind"]["max"]),
        ("difference of two errors of a state's successors, spans of a skeleton", PAIR_MARGIN, walked["pair"]["max"]),
        ("exact IoU above the span's", ABOVE_SPAN, max(-walked["span"]["low"], -row["all"]["low"])),
        ("exact IoU above that of the samples drafted first", ABOVE_SPARSE, -min(far)),
        (f"the same beyond an IoU of {CLOSE}", ABOVE_SPARSE_CLOSE, -min(close)),
        (
            "exact IoU above the span's, near the success threshold",
            SPAN_MARGIN,
            -min(part["goal"]["low"] for part in (walked, row)),
        ),
        ("states in which the oracle chose another successor", 0, walked["wrong"]),
    ]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--icons", type=Path, required=True, help="folder of SVG icons")
    parser.add_argument("--poses", type=int, help="poses in all, beside those of the walks; default: of all icons")
    parser.add_argument("--per-icon", type=int, default=75, help="poses an icon")
    parser.add_argument("--steps", type=int, default=12, help="steps of an icon's walk")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--worst", type=int, default=20, help="worst cases listed")
    parser.add_argument("--out", type=Path, help="JSON lines file to append to; default standard output")
    flags = parser.parse_args(argv)
    rng = np.random.default_rng(flags.seed)
    paths = [record.path for record in scan(flags.icons) if record.status == "accepted"]
    wanted = -(-flags.poses // flags.per_icon) if flags.poses else len(paths)
    order = np.concatenate([rng.permutation(len(paths)) for _ in range(-(-wanted // len(paths)))])[:wanted]
    cases, walks, started = [], [], time.perf_counter()
    for done, which in enumerate(order):
        points = outline_points(accepted_mask(flags.icons / paths[which]))
        solid = make_solid(plane_points(points, plane_circle(points)), flags.seed + done, size=BUCKETS[-1])
        columns = skeleton(solid, size=BUCKETS[-1])
        target = jax.jit(splat)(solid, np.eye(3, dtype=np.float32))
        poses, angles = random_poses(rng, flags.per_icon)
        fast, sparse, exact = (np.asarray(v, float) for v in three(solid, columns, target, poses))
        walks.append([np.asarray(v) for v in walk(solid, columns, target, poses[-1], steps=flags.steps)])
        tilt = np.degrees(np.arccos(np.clip(np.abs(poses[:, 2, 2]), 0, 1)))
        kept = int(columns.count)
        cases += [
            {
                "icon": paths[which],
                "columns": len(points),
                "kept": kept,
                "angle": a,
                "tilt": t,
                "exact": e,
                "error": f - e,
                "sparse": s - e,
            }
            for a, t, f, s, e in zip(angles, tilt, fast, sparse, exact, strict=True)
        ]
        if done % 10 == 9:
            rate = (time.perf_counter() - started) / (done + 1)
            worst = max(cases, key=lambda case: abs(case["error"]))
            left = rate * (len(order) - done - 1) / 60
            said = f"{done + 1}/{len(order)} icons, worst {worst['error']:+.5f} {worst['icon']}, {left:.1f} min left"
            print(said, file=sys.stderr, flush=True)
    errors, sparse, exacts = (np.array([case[name] for case in cases]) for name in ("error", "sparse", "exact"))
    drafts = sparse + exacts
    found, best = (np.array(v) for v in zip(*walks, strict=True))
    angles = np.array([case["angle"] for case in cases])
    spread = np.ptp(errors.reshape(len(order), -1), axis=1)
    bands = ((0, 2), (2, 5), (5, 10), (10, 30), (30, 90), (90, 181))
    inside = {f"{low}-{high}": errors[(angles >= low) & (angles < high)] for low, high in bands}
    row = {
        "question": "span margin",
        "work": f"{len(errors)} poses of {len(set(order.tolist()))} icons, half within {NEAR_DEG:g} degrees",
        "seed": flags.seed,
        "jaxlib": jaxlib.__version__,
        "device": jax.devices()[0].device_kind,
        "all": summary(errors),
        "by_angle": {name: summary(band) for name, band in inside.items() if len(band)},
        "pair": {"max": round(float(spread.max()), 6), "mean": round(float(spread.mean()), 6)},
        "sparse": summary(sparse[drafts <= CLOSE]),
        "sparse_close": summary(sparse[drafts > CLOSE]),
        "goal": summary(errors[near_goal(exacts)]),
        "walk": walk_summary(found, best, [paths[which] for which in order]),
        "kept_columns_mean": round(float(np.mean([case["kept"] for case in cases])), 1),
        "worst": sorted(cases, key=lambda case: -abs(case["error"]))[: flags.worst],
    }
    row["worst"] = [
        {k: v if isinstance(v, str | int) else round(float(v), 5) for k, v in case.items()} for case in row["worst"]
    ]
    row["relied_on"] = allowed(row)
    line = json.dumps(row, allow_nan=False)
    if flags.out:
        flags.out.parent.mkdir(parents=True, exist_ok=True)
        with flags.out.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
    else:
        print(line)
    broken = [f"{what}: {measured:g}, allowed {most:g}" for what, most, measured in row["relied_on"] if measured > most]
    for said in broken:
        print(f"margin: {said}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
