"""What the questions about pictures share: the poses, the peers as subjects, and when pictures count as the same."""

from collections.abc import Callable
from importlib import import_module

import numpy as np

from benchmarks.inputs import Inputs
from benchmarks.turns import ParityError, Results, Subject

Renderer = Callable[[np.ndarray], np.ndarray]
PEERS = {
    "NumPy + OpenCV": "numpy_opencv",
    "Numba + OpenCV": "numba_opencv",
    "PyTorch": "torch_cpu",
    "Warp + OpenCV": "warp_cpu",
}
# float32 sums that a compiler fuses or does not may fall to either side of half a pixel.
DIFFERING_PIXELS = 4
EXACT = "rotajax.splat"


def peers(make: str, options: dict, *, cores: int = 1, names: tuple[str, ...] = tuple(PEERS)) -> tuple[Subject, ...]:
    """Return the peers as subjects of one work."""
    return tuple(
        Subject(name, make, {**options, "module": PEERS[name], "cores": cores}, cores=cores, peer=True)
        for name in names
    )


def peer_renderers(inputs: Inputs, module: str, cores: int) -> list[Renderer]:
    """Return a peer's function from poses to masks for every solid."""
    make = import_module(f"benchmarks.peers.{module}").masks
    return [make(inputs.points(i), cores) for i in range(inputs.count)]


def peer_masks(inputs: Inputs, poses: int, module: str, cores: int) -> Callable[[], np.ndarray]:
    """Return the run of a peer: the masks of all poses of all solids."""
    renderers, batch = peer_renderers(inputs, module, cores), inputs.poses(poses)
    return lambda: np.stack([render(batch) for render in renderers])


def unpacked(pictures: np.ndarray) -> np.ndarray:
    """Return masks Bool[..., 320, 320] of masks or of packed words UInt32[..., 320, 10]."""
    if pictures.dtype == np.bool_:
        return pictures
    return np.unpackbits(np.ascontiguousarray(pictures).view(np.uint8), axis=-1, bitorder="little").astype(np.bool_)


def same_pictures(results: Results) -> None:
    """Raise ParityError unless every exact subject's masks are those of `rotajax.splat` to 4 pixels a mask.

    Subjects named rotajax.span are held to the margin of their IoU with the target, the first picture of a solid.
    """
    from rotajax.search.ground import SPAN_MARGIN

    exact = unpacked(results[EXACT]["result"])
    for name, result in results.items():
        pictures = unpacked(result["result"])
        if name.startswith("rotajax.span"):
            target = exact[:, :1]
            error = np.abs(_ious(pictures, target) - _ious(exact, target)).max()
            if error > SPAN_MARGIN:
                raise ParityError(f"{name}: expected IoUs within {SPAN_MARGIN} of the exact ones, got {error:.4f} off")
            continue
        differing = (pictures != exact).sum(axis=(-2, -1)).max()
        if differing > DIFFERING_PIXELS:
            raise ParityError(
                f"{name}: expected at most {DIFFERING_PIXELS} pixels of a mask to differ, got {differing}"
            )


def _ious(pictures: np.ndarray, target: np.ndarray) -> np.ndarray:
    return (pictures & target).sum(axis=(-2, -1)) / (pictures | target).sum(axis=(-2, -1))
