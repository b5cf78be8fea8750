"""`spread`: barriers between operations stay on a CPU, wherever they stand, and change nothing."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.lax import optimization_barrier as apart

from rotajax import devices

ITEMS = np.arange(6 * 8 * 5, dtype=np.float32).reshape(6, 8, 5) / 17


def scalar_loop(a):
    return jax.lax.fori_loop(0, 5, lambda k, c: apart(c * 2 + k), a[0, 0])


def condition_of_a_loop(a):
    return jax.lax.while_loop(lambda c: apart(c.sum()) < 1e4, lambda c: apart(c * 2 + 1), a)


def branches(a):
    return jax.lax.switch(jnp.int32(a[0, 0]) % 3, [lambda: apart(a), lambda: apart(a + 1), lambda: a])


def loops_in_loops(a):
    def row(r):
        return jax.lax.fori_loop(0, 3, lambda _, c: apart(c + jax.lax.cond(apart(c[0]) > 2, lambda: c, lambda: -c)), r)

    return jax.lax.map(row, a)


def stacked(a):
    return jax.lax.scan(lambda c, r: (apart(c + r.sum()), apart(r)), jnp.float32(0), a)[1]


def gradient_of_recomputed(a):
    def thrice(z):
        z, _ = jax.lax.scan(lambda c, _: (jax.checkpoint(lambda q: jnp.sin(q) * q)(c), None), z, None, length=3)
        return z.sum()

    return jax.grad(thrice)(a)


def scattered(a):
    return jnp.zeros(40).at[apart(jnp.int32(a.ravel()))].add(apart(a.ravel()))


def many_results(a):
    b = apart(a + 1)
    return b, b, apart((a > 3, jnp.arange(3)))


@pytest.mark.parametrize(
    "function",
    [
        scalar_loop,
        condition_of_a_loop,
        branches,
        loops_in_loops,
        stacked,
        gradient_of_recomputed,
        scattered,
        many_results,
    ],
)
def test_barriers_change_nothing(function):
    found = jax.tree.leaves(devices.spread(function)(ITEMS))
    one_by_one = jax.tree.map(lambda *leaves: np.stack(leaves), *(function(jnp.asarray(item)) for item in ITEMS))
    for got, expected in zip(found, jax.tree.leaves(one_by_one), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


def framed(a):
    """A picture that XLA would compute five times, once for each of its neighbours."""
    picture = apart(jnp.pad(apart(jnp.sin(a)), 1))
    return picture[1:-1, 1:-1] + picture[:-2, 1:-1] + picture[2:, 1:-1] + picture[1:-1, :-2] + picture[1:-1, 2:]


def test_what_spread_compiles_is_neither_fused_over_barriers_nor_cut_in_parts():
    large = np.zeros((len(jax.devices()), 512, 512), np.float32)
    ours = str(devices._compiled(framed, devices.device_mesh(), 256).lower(large, ()).compile().as_text())
    plain = str(jax.jit(framed).lower(large[0]).compile().as_text())
    assert (ours.count("opt-barrier("), plain.count("opt-barrier(")) == (2, 0)
    assert "outer_dimension_partitions" not in ours
    assert "outer_dimension_partitions" in plain


def test_a_jaxlib_that_was_not_tested_compiles_as_it_comes(monkeypatch):
    assert devices.compiler_options("cpu")
    assert devices.compiler_options("gpu") is None
    monkeypatch.setattr(devices, "TESTED", (0, 9))
    assert devices.compiler_options("cpu") is None
