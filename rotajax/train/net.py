"""`PoseNet`: from the three small pictures to a posterior over the grid of poses, equivariant to turns in the plane.

Both branches see polar pictures through layers that are circular convolutions as wide as the circle (a matrix product a
frequency), so that every feature exists at each of 24 turns. Feature psi of the current branch says, for every tilt,
what the target would look like if the solid's plane were tilted towards psi; feature phi of the target branch is the
target turned by phi. A cell's logit is their inner product: no weight knows a direction, and nothing is to be learnt
twice at two turns. What the grid is too coarse for near the target, `Nudge` tells.
"""

import equinox as eqx
import jax
import jax.numpy as jnp

from rotajax.train.grid import TILTS, TURNS
from rotajax.train.layers import Branch, Dense
from rotajax.train.nudge import Nudge, Offset
from rotajax.train.polar import RINGS, polar_mask, polar_view
from rotajax.types import Array, Float32, Key, UInt8


class PoseNet(eqx.Module):
    """The network; `auxiliary` says whether it looks at the auxiliary view. It takes batches: see `Dense`."""

    current: Branch
    target: Branch
    seen: Dense
    wanted: Dense
    tilt: Dense
    nudge: Nudge
    match: int = eqx.field(static=True)
    auxiliary: bool = eqx.field(static=True)

    def __init__(self, *, width: int, depth: int, match: int, nudge: int, auxiliary: bool, key: Key[Array, ""]):
        keys = jax.random.split(key, 6)
        self.match, self.auxiliary = match, auxiliary
        self.current = Branch(2 * RINGS, width, depth, 1, key=keys[0])
        self.target = Branch(RINGS, width, max(depth - 1, 1), -1, key=keys[1])
        self.seen = Dense(width, len(TILTS) * match, key=keys[2])
        self.wanted = Dense(width, match, key=keys[3])
        self.tilt = Dense(width, len(TILTS), key=keys[4])
        self.nudge = Nudge(nudge, key=keys[5])

    def __call__(
        self, target: UInt8[Array, "B 80 80"], view: UInt8[Array, "B 80 80"], current: UInt8[Array, "B 80 80"]
    ) -> tuple[Float32[Array, "B cells"], Offset]:
        """Return the logits of the posterior over the cells of the grid, [theta, psi, phi] in one axis, and the offset
        from the target, which means something near it alone."""
        batch = target.shape[0]
        mask = jax.vmap(polar_mask)(current)
        depth = jax.vmap(polar_view)(view) if self.auxiliary else jnp.zeros_like(mask)
        goal = jax.vmap(polar_mask)(target)
        features = self.current(jnp.concatenate([mask, depth], axis=-1))
        # Turns and tilts together are the rows of one plain matrix product, which is much faster on a CPU.
        seen = self.seen(features).reshape(batch, TURNS, len(TILTS), self.match)
        seen = jnp.swapaxes(seen, 1, 2).reshape(batch, -1, self.match)
        wanted = self.wanted(self.target(goal)) * jnp.float32(self.match**-0.5)
        tilt = jnp.swapaxes(self.tilt(features), 1, 2).reshape(batch, -1, 1)
        logits = (jnp.einsum("bqm,bfm->bqf", seen, wanted) + tilt).reshape(batch, -1)
        return logits, self.nudge(jnp.concatenate([mask, depth, goal], axis=-1))


def parameters(net: PoseNet) -> int:
    """Return how many numbers the network has learnt."""
    return sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(net, eqx.is_array)))
