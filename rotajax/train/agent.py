"""`Agent`: a network and the filter around it, as the player of many games at once."""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from rotajax.train.belief import Habits, Tables, choose, likelihood, see, worth
from rotajax.train.memory import Memory, after, been, nothing
from rotajax.train.net import PoseNet
from rotajax.train.nudge import Offset
from rotajax.train.world import Pictures
from rotajax.types import Array, Bool, Float32, Int32


class Agent(eqx.Module):
    """What plays: the network, how often training showed each tilt, the filter's numbers and whether it remembers."""

    net: PoseNet
    tilts: Float32[Array, "tilts"]
    habits: Habits
    history: bool = eqx.field(static=True)

    def look(self, seen: Pictures, memory: Memory, lookup: Tables) -> tuple[Memory, Float32[Array, "B 24"], Offset]:
        """Return the memory after a batch of pictures, each rotation's expected worth, and the offsets."""
        logits, offsets = self.net(seen.target, seen.view, seen.current)
        if not self.history:
            memory = self.renewed(memory, jnp.ones(len(logits), bool))

        def one(logits: Array, belief: Array) -> tuple[Array, Array]:
            belief = see(belief, likelihood(logits, self.tilts, self.habits), self.habits, lookup)
            return belief, worth(belief, self.habits, lookup)

        beliefs, values = jax.vmap(one)(logits, memory.belief)
        return replace(memory, belief=beliefs), values, offsets

    def act(
        self, seen: Pictures, memory: Memory, lookup: Tables, taken: Int32[Array, "B"] | None = None
    ) -> tuple[Int32[Array, "B"], Memory]:
        """Return the chosen rotations, or what was `taken` in their place, and the memory after them."""
        memory, values, offsets = self.look(seen, memory, lookup)
        barred = jax.vmap(been)(memory)
        pick = jax.vmap(choose, (0, 0, 0, 0, None, None))
        chosen = pick(memory.belief, values, offsets, barred, self.habits, lookup)
        actions = chosen if taken is None else taken
        return actions, self.moved(memory, actions, lookup)

    @staticmethod
    def moved(memory: Memory, actions: Int32[Array, "B"], lookup: Tables) -> Memory:
        """Return the memory after actions; game by game, for a belief's move is a gather."""
        return jax.lax.map(lambda item: after(item[0], item[1], lookup), (memory, actions))

    @staticmethod
    def renewed(memory: Memory, ended: Bool[Array, "B"]) -> Memory:
        """Return the memory with that of a fresh game where one ended."""
        pick = jax.vmap(lambda end, kept: jax.tree.map(lambda a, b: jnp.where(end, a, b), nothing(), kept))
        return pick(ended, memory)


def acted(agent: Agent, seen: Pictures, memory: Memory, lookup: Tables, taken: Int32[Array, ""] | None = None) -> Any:
    """Return what `Agent.act` does in one game."""
    seen, memory, taken = jax.tree.map(lambda leaf: leaf[None], (seen, memory, taken))
    return jax.tree.map(lambda leaf: leaf[0], agent.act(seen, memory, lookup, taken))
