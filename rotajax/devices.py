"""`spread`: a function of one example, run over a batch on every device of a mesh, on one host or on many."""

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jaxlib.version
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from rotajax.processes import together

AXIS = "batch"
# Passes of XLA that renderers do better without on a CPU, where a device is one core. The first cuts the larger
# operations of every device in as many parts as there are devices and hands them from thread to thread. The second
# drops the optimization barriers before operations are fused: pictures are then computed anew for each neighbour. The
# third cannot take a small loop with a barrier inside.
LEFT_OUT = "cpu-parallel-task-assigner", "cse_barrier_expander", "small-while-loop-hoisting"
# Passes are no public interface: with a later jaxlib than the tests ran with, all are left in.
TESTED = (0, 10)
SPLIT, WHOLE = PartitionSpec(AXIS), PartitionSpec()


def device_mesh(devices: tuple[Any, ...] | None = None) -> Mesh:
    """Return the mesh whose one axis is the batch: over the given devices, or over all, those of other hosts too."""
    return Mesh(np.array(devices or jax.devices()), (AXIS,))


def batch_map(function: Callable, platform: str, at_once: int) -> Callable:
    """Return the function over a leading axis: one example after the other on a CPU, where caches rule (3 times faster
    than vmap for a renderer), `at_once` of them together on an accelerator.
    """
    if platform == "cpu":
        return lambda batch: jax.lax.map(function, batch)
    return lambda batch: jax.lax.map(function, batch, batch_size=at_once)


def compiler_options(platform: str) -> dict[str, str] | None:
    """Return the options of `jax.jit` with which renderers run fastest on a platform ("cpu", "gpu", "tpu")."""
    if platform != "cpu" or jaxlib.version.__version_info__[:2] > TESTED:
        return None
    return {"xla_disable_hlo_passes": ",".join(LEFT_OUT)}


@cache
def _compiled(function: Callable, mesh: Mesh, at_once: int) -> Callable:
    platform = mesh.devices.flat[0].platform

    def shard(batch: Any, shared: Any) -> Any:
        return batch_map(lambda item: function(item, *shared), platform, at_once)(batch)

    split = jax.shard_map(shard, mesh=mesh, in_specs=(SPLIT, WHOLE), out_specs=SPLIT, check_vma=False)
    shardings = NamedSharding(mesh, SPLIT), NamedSharding(mesh, WHOLE)
    return jax.jit(split, in_shardings=shardings, compiler_options=compiler_options(platform))


def _to_host(results: Any) -> Any:
    """Return results as NumPy on every process: each then takes the same decisions, and any of them can write.

    Devices are waited for one by one first: a collective inside the program would abort where one shard takes 40
    seconds longer than another.
    """
    results = jax.block_until_ready(results)
    if jax.process_count() == 1:
        return results
    with together():
        return multihost_utils.process_allgather(results, tiled=True)


def _placed(batch: Any, mesh: Mesh) -> Any:
    """Return a batch whose leaves are split over the mesh; where other processes take part jit does not split NumPy."""
    if jax.process_count() == 1:
        return batch
    sharding = NamedSharding(mesh, SPLIT)

    def place(leaf: Any) -> jax.Array:
        data = np.asarray(leaf)
        return jax.make_array_from_callback(data.shape, sharding, lambda index: data[index])

    return jax.tree.map(place, batch)


def spread(function: Callable, *, mesh: Mesh | None = None, at_once: int = 256) -> Callable:
    """Return `run(batch, *shared)`: `function(item, *shared)` for every item of a batch, results stacked as NumPy.

    The batch, a pytree with one leading axis, is filled up with its last item to a multiple of the mesh and cut again;
    `shared` goes whole to every device. `function` must be a module-level function or a cached one: it keys the
    compilation. On an accelerator `at_once` examples a device are mapped together. On a CPU no `optimization_barrier`
    may stand in what a reduction or a scatter does with each element: XLA would end the process (see LEFT_OUT).
    """

    def run(batch: Any, *shared: Any) -> Any:
        over = mesh or device_mesh()
        leaves = jax.tree.leaves(batch)
        count = len(leaves[0])
        index = np.minimum(np.arange(-(-count // over.size) * over.size), count - 1)
        if len(index) != count:
            batch = jax.tree.map(lambda leaf: np.asarray(leaf)[index], batch)
        results = _to_host(_compiled(function, over, at_once)(_placed(batch, over), shared))
        return jax.tree.map(lambda leaf: np.asarray(leaf)[:count], results)

    return run
