"""How many steps a second has the training environment, with the three pictures at 80 x 80, on one and on two cores?"""

from collections.abc import Callable
from functools import cache, partial

import numpy as np

from benchmarks.inputs import STEPS, Inputs
from benchmarks.peers import CENTRE, SCALE, SIZE, Points
from benchmarks.turns import Case, ParityError, Results, Subject

HERE = f"{__name__}:"
SIDE = 80
# Spans against sampled points; quick views against exact ones, in grey levels, as a mean over a picture.
IOU, GREY = 0.01, 3.0


def cases(inputs: Inputs, quick: bool) -> list[Case]:
    """Return one work: games of random rotations."""
    games = 4 if quick else 16
    options = {"games": games}
    subjects = [
        Subject("rotajax.train", HERE + ours.__name__, {**options, "cores": 1}),
        Subject("rotajax.train, 2 cores", HERE + ours.__name__, {**options, "cores": 2}, cores=2, devices=2),
        Subject("NumPy + OpenCV", HERE + numpy_env.__name__, options, peer=True),
    ]
    return [
        Case(
            question="train_env",
            work=f"target, view and mask at {SIDE} x {SIDE}, rules and rewards, {games} games of {STEPS} steps, "
            f"{inputs.name}",
            unit="step",
            units=games * STEPS,
            subjects=tuple(subjects),
            parity=same_games,
            runs=5,
        )
    ]


def ours(inputs: Inputs, games: int, cores: int) -> Callable[[], dict]:
    """Return the run of the training environment: IoU, mask and view after every step."""
    import jax
    import jax.numpy as jnp

    from rotajax.devices import spread
    from rotajax.env.state import Params, first_state
    from rotajax.train.env import Game
    from rotajax.train.world import world_of

    del cores  # as many devices as the process was given
    starts, actions, _ = inputs.walks(games)
    group = np.broadcast_to(np.eye(3, dtype=np.float32), (inputs.count, 24, 3, 3))
    solids = [inputs.solid(i) for i in range(inputs.count)]
    world = jax.device_get(world_of(solids, group, np.ones(inputs.count, np.int32)))
    zero, low = np.zeros(games, np.int32), np.zeros(games, np.float32)
    state = jax.vmap(partial(first_state, None, None))(starts, low, zero)
    keys = jax.random.split(jax.random.key(0), games)
    icons = np.arange(games, dtype=np.int32) % inputs.count
    first = Game(icon=icons, state=state, pose_error=low, actions=zero[:, None] - 1, key=jnp.asarray(keys))
    run = spread(_play())
    return lambda: run((first, actions), world, Params())


@cache
def _play() -> Callable:
    import jax

    from rotajax.train.env import advance

    weights = (np.float32(1), np.float32(1), np.float32(0))

    def play(item, world, params):
        game, actions = item

        def one(game, action):
            game, step = advance(game, action, world, params, weights)
            return game, {"iou": step.iou, "mask": step.final.current, "view": step.final.view, "on": step.outcome == 0}

        return jax.lax.scan(one, game, actions)[1]

    return play


def numpy_env(inputs: Inputs, games: int) -> Callable[[], dict]:
    """Return the run of the plain environment: whole-array NumPy, OpenCV for morphology, blur and reduction."""
    import cv2

    from benchmarks.peers import numpy_opencv

    cv2.setNumThreads(1)
    points = [inputs.points(i) for i in range(inputs.count)]
    masks = [numpy_opencv.masks(p, 1) for p in points]
    views = [_views(p) for p in points]
    targets = [draw(np.eye(3, dtype=np.float32)[None])[0] for draw in masks]
    starts, actions, _ = inputs.walks(games)
    from rotajax.geometry.rotation import MATRICES

    def small(picture: np.ndarray) -> np.ndarray:
        return cv2.resize(picture, (SIDE, SIDE), interpolation=cv2.INTER_AREA)

    def run() -> dict:
        found: dict[str, list] = {"iou": [], "mask": [], "view": [], "on": []}
        for game, (R, chosen) in enumerate(zip(starts, actions, strict=True)):
            icon, best, stale = game % inputs.count, 0.0, 0
            rows: dict[str, list] = {name: [] for name in found}
            for action in chosen:
                R = MATRICES[action] @ R
                mask = masks[icon](R[None])[0]
                iou = (mask & targets[icon]).sum() / (mask | targets[icon]).sum()
                stale = 0 if iou > best else stale + 1
                best = max(best, iou)
                rows["iou"].append(iou)
                rows["mask"].append(small(mask.view(np.uint8) * np.uint8(255)))
                rows["view"].append(small(views[icon](R)))
                rows["on"].append(iou < 0.9 and stale < 12)
            for name, values in rows.items():
                found[name].append(np.stack(values))
        return {name: np.stack(values) for name, values in found.items()}

    return run


def _views(points: Points) -> Callable[[np.ndarray], np.ndarray]:
    """Return the auxiliary view by pose: brightest point a pixel, disk, two blurs (Appendix G)."""
    import cv2

    x, y, z = points.coordinates()
    offsets = [(du, dv) for dv in range(-2, 3) for du in range(-2, 3) if du * du + dv * dv <= 4]
    weights = np.array([1, 2, 1], np.float32) / 4

    def view(R: np.ndarray) -> np.ndarray:
        u, v = (
            np.rint(CENTRE + 0.9 * SCALE * (R[k, 0] * x + R[k, 1] * y + R[k, 2] * z)).astype(np.int32) for k in (0, 1)
        )
        depth, across = (R[k, 0] * x + R[k, 1] * y + R[k, 2] * z for k in (2, 0))
        grey = np.clip(110 + 6 * depth + 1.8 * across, 40, 235).astype(np.int16)
        marks = np.zeros((SIZE + 4) ** 2, np.int16)
        np.maximum.at(marks, (v + 2) * (SIZE + 4) + u + 2, grey)
        marks = marks.reshape(SIZE + 4, SIZE + 4)
        found = np.full((SIZE, SIZE), 18, np.int16)
        for du, dv in offsets:
            moved = marks[2 + dv : 2 + dv + SIZE, 2 + du : 2 + du + SIZE]
            found = np.maximum(found, moved - int(2.2 * np.hypot(du, dv)))
        picture = found.astype(np.uint8)
        for _ in range(2):
            picture = cv2.sepFilter2D(picture, -1, weights, weights, borderType=cv2.BORDER_REFLECT_101)
        return picture

    return view


def same_games(results: Results) -> None:
    """Raise ParityError unless IoUs and pictures agree up to each game's end, within what spans and views may err."""
    exact = results.get("NumPy + OpenCV")
    if exact is None:
        return
    for name, found in results.items():
        # Where a game has ended both go on in their own way.
        on = np.cumprod(found["on"] & exact["on"], axis=1).astype(bool)
        iou = np.abs(found["iou"] - exact["iou"])[on].max(initial=0)
        grey = [
            np.abs(found[kind].astype(int) - exact[kind]).mean(axis=(2, 3))[on].max(initial=0)
            for kind in ("mask", "view")
        ]
        if iou > IOU or max(grey) > GREY:
            raise ParityError(f"{name}: expected IoU within {IOU}, grey within {GREY}, got {iou:.4f}, {max(grey):.2f}")
