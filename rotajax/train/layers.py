"""Layers whose inputs and outputs are functions of an angle: turning a picture in the plane turns its features.

They are circular convolutions as wide as the circle, a matrix product a frequency. All take batches: see `Dense`.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from rotajax.train.grid import TURNS
from rotajax.types import Array, Float32, Key


def waves(samples: int, frequencies: int) -> np.ndarray:
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
        into = waves(samples, frequencies).reshape(-1, samples) * np.float32(samples**-0.5)
        parts = jnp.einsum("fa,bai->fbi", jnp.asarray(into), x).reshape(2, frequencies, batch, inputs)
        parts = jnp.concatenate([parts[0], parts[1]], axis=-1)  # f b (c s)
        a, b = self.weight
        # (c - i s)(a + i b): its real part, and its imaginary one.
        both = jnp.concatenate([jnp.concatenate([a, b], axis=-1), jnp.concatenate([b, -a], axis=-1)], axis=1)
        mixed = jnp.einsum("fbi,fio->fbo", parts, both).reshape(frequencies, batch, 2, outputs)
        back = waves(TURNS, frequencies)
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
