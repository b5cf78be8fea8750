"""`PoseNet`: from the three small pictures to a posterior over the grid of poses, equivariant to turns in the plane.

Both branches see polar pictures through layers that are circular convolutions as wide as the circle (a matrix product a
frequency), so that every feature exists at each of 36 turns. Feature psi of the current branch says, for every tilt,
what the target would look like if the solid's plane were tilted towards psi; feature phi of the target branch is the
target turned by phi. A cell's logit is their inner product: no weight knows a direction, and nothing is to be learnt
twice at two turns.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from rotajax.train.grid import TILTS, TURNS
from rotajax.train.polar import RINGS, polar_mask, polar_view
from rotajax.types import Array, Float32, Key, UInt8


def _waves(samples: int, frequencies: int) -> np.ndarray:
    """Return cosines and sines, Float32[2, frequencies, samples]."""
    angle = 2 * np.pi * np.outer(np.arange(frequencies), np.arange(samples)) / samples
    return np.stack([np.cos(angle), np.sin(angle)]).astype(np.float32)


class Dense(eqx.Module):
    """A linear layer over the last axis."""

    weight: Float32[Array, "inputs outputs"]
    bias: Float32[Array, "outputs"]

    def __init__(self, inputs: int, outputs: int, *, key: Key[Array, ""]):
        self.weight = inputs**-0.5 * jax.random.normal(key, (inputs, outputs), jnp.float32)
        self.bias = jnp.zeros(outputs, jnp.float32)

    def __call__(self, x: Float32[Array, "*B inputs"]) -> Float32[Array, "*B outputs"]:
        """Return the outputs. One plain matrix product: the weights' gradient over two axes is 6 times slower."""
        return (x.reshape(-1, x.shape[-1]) @ self.weight + self.bias).reshape(*x.shape[:-1], -1)


class Norm(eqx.Module):
    """Layer normalisation over the last axis with a learnt scale."""

    scale: Float32[Array, "width"]

    def __init__(self, width: int):
        self.scale = jnp.ones(width, jnp.float32)

    def __call__(self, x: Float32[Array, "*B width"]) -> Float32[Array, "*B width"]:
        """Return the normalised features."""
        x = x - jnp.mean(x, axis=-1, keepdims=True)
        x = x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + jnp.float32(1e-5))
        return (x.reshape(-1, x.shape[-1]) * self.scale).reshape(x.shape)


class Turned(eqx.Module):
    """A linear layer whose input is a function of an angle and whose output is one too, at TURNS angles.

    `sign` 1: turning the input by d turns the output by d; -1: by -d. One matrix product a frequency, cosines and sines
    side by side.
    """

    weight: Float32[Array, "2 frequencies inputs outputs"]
    sign: int = eqx.field(static=True)

    def __init__(self, frequencies: int, inputs: int, outputs: int, sign: int, *, key: Key[Array, ""]):
        scale = (inputs * frequencies * 0.5) ** -0.5
        self.weight = scale * jax.random.normal(key, (2, frequencies, inputs, outputs), jnp.float32)
        self.sign = sign

    def __call__(self, x: Float32[Array, "B samples inputs"]) -> Float32[Array, "B turns outputs"]:
        """Return the features at every turn."""
        _, frequencies, inputs, outputs = self.weight.shape
        batch, samples = x.shape[:2]
        waves = _waves(samples, frequencies).reshape(-1, samples) * np.float32(samples**-0.5)
        parts = jnp.einsum("fa,bai->fbi", jnp.asarray(waves), x).reshape(2, frequencies, batch, inputs)
        parts = jnp.concatenate([parts[0], parts[1]], axis=-1)  # f b (c s)
        a, b = self.weight
        # (c - i s)(a + i b): its real part, and its imaginary one.
        both = jnp.concatenate([jnp.concatenate([a, b], axis=-1), jnp.concatenate([b, -a], axis=-1)], axis=1)
        mixed = jnp.einsum("fbi,fio->fbo", parts, both).reshape(frequencies, batch, 2, outputs)
        back = _waves(TURNS, frequencies)
        back = jnp.asarray(np.stack([back[0], np.float32(-self.sign) * back[1]], axis=1).reshape(-1, TURNS))
        mixed = jnp.moveaxis(mixed, 2, 1).reshape(2 * frequencies, batch, outputs)
        return jnp.einsum("ft,fbo->bto", back, mixed)


class Block(eqx.Module):
    """A residual block over the turns: a circular layer, then two pointwise ones."""

    norms: tuple[Norm, Norm]
    turned: Turned
    up: Dense
    down: Dense

    def __init__(self, width: int, *, key: Key[Array, ""]):
        keys = jax.random.split(key, 3)
        self.norms = (Norm(width), Norm(width))
        self.turned = Turned(10, width, width, 1, key=keys[0])
        self.up = Dense(width, 2 * width, key=keys[1])
        self.down = Dense(2 * width, width, key=keys[2])

    def __call__(self, x: Float32[Array, "B turns width"]) -> Float32[Array, "B turns width"]:
        """Return the features after the block."""
        x = x + self.turned(jax.nn.gelu(self.norms[0](x)))
        return x + self.down(jax.nn.gelu(self.up(self.norms[1](x))))


class Branch(eqx.Module):
    """Polar pictures to features at every turn."""

    first: Turned
    blocks: tuple[Block, ...]
    norm: Norm

    def __init__(self, inputs: int, width: int, depth: int, sign: int, *, key: Key[Array, ""]):
        keys = jax.random.split(key, depth + 1)
        self.first = Turned(24, inputs, width, sign, key=keys[0])
        self.blocks = tuple(Block(width, key=k) for k in keys[1:])
        self.norm = Norm(width)

    def __call__(self, x: Float32[Array, "B rays inputs"]) -> Float32[Array, "B turns width"]:
        """Return the features."""
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return jax.nn.gelu(self.norm(x))


class PoseNet(eqx.Module):
    """The network; `auxiliary` says whether it looks at the auxiliary view. It takes batches: see `Dense`."""

    current: Branch
    target: Branch
    seen: Dense
    wanted: Dense
    tilt: Dense
    match: int = eqx.field(static=True)
    auxiliary: bool = eqx.field(static=True)

    def __init__(self, *, width: int, depth: int, match: int, auxiliary: bool, key: Key[Array, ""]):
        keys = jax.random.split(key, 5)
        self.match, self.auxiliary = match, auxiliary
        self.current = Branch(2 * RINGS, width, depth, 1, key=keys[0])
        self.target = Branch(RINGS, width, max(depth - 1, 1), -1, key=keys[1])
        self.seen = Dense(width, len(TILTS) * match, key=keys[2])
        self.wanted = Dense(width, match, key=keys[3])
        self.tilt = Dense(width, len(TILTS), key=keys[4])

    def __call__(
        self, target: UInt8[Array, "B 80 80"], view: UInt8[Array, "B 80 80"], current: UInt8[Array, "B 80 80"]
    ) -> Float32[Array, "B cells"]:
        """Return the logits of the posterior over the cells of the grid, [theta, psi, phi] in one axis."""
        batch = target.shape[0]
        mask = jax.vmap(polar_mask)(current)
        depth = jax.vmap(polar_view)(view) if self.auxiliary else jnp.zeros_like(mask)
        features = self.current(jnp.concatenate([mask, depth], axis=-1))
        # Turns and tilts together are the rows of one plain matrix product, which is much faster on a CPU.
        seen = self.seen(features).reshape(batch, TURNS, len(TILTS), self.match)
        seen = jnp.swapaxes(seen, 1, 2).reshape(batch, -1, self.match)
        wanted = self.wanted(self.target(jax.vmap(polar_mask)(target))) * jnp.float32(self.match**-0.5)
        tilt = jnp.swapaxes(self.tilt(features), 1, 2).reshape(batch, -1, 1)
        return (jnp.einsum("bqm,bfm->bqf", seen, wanted) + tilt).reshape(batch, -1)


def parameters(net: PoseNet) -> int:
    """Return how many numbers the network has learnt."""
    return sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(net, eqx.is_array)))
