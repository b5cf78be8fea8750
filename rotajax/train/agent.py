"""`Agent`: a network and the filter around it, as the player of many games at once."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from rotajax.train.belief import Habits, Tables, choose, know_nothing, likelihood, move, see, worth
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

    def look(self, seen: Pictures, beliefs: Float32[Array, "B cells"], lookup: Tables) -> tuple[Any, Any, Offset]:
        """Return the beliefs after a batch of pictures, each rotation's expected worth, [B, 24], and the offsets."""
        logits, offsets = self.net(seen.target, seen.view, seen.current)

        def one(logits: Array, belief: Array) -> tuple[Array, Array]:
            evidence = likelihood(logits, self.tilts, self.habits)
            belief = see(belief if self.history else know_nothing(), evidence, self.habits, lookup)
            return belief, worth(belief, self.habits, lookup)

        return (*jax.vmap(one)(logits, beliefs), offsets)

    def choose(self, beliefs: Array, values: Array, offsets: Offset, lookup: Tables) -> Int32[Array, "B"]:
        """Return the chosen rotations for what `look` returned."""
        return jax.vmap(choose, (0, 0, 0, None, None))(beliefs, values, offsets, self.habits, lookup)

    def act(self, seen: Pictures, beliefs: Float32[Array, "B cells"], lookup: Tables):
        """Return the chosen rotations, [B], and the beliefs after them."""
        beliefs, values, offsets = self.look(seen, beliefs, lookup)
        actions = self.choose(beliefs, values, offsets, lookup)
        return actions, self.move(beliefs, actions, lookup)

    @staticmethod
    def move(beliefs: Array, actions: Int32[Array, "B"], lookup: Tables, ended: Bool[Array, "B"] | None = None):
        """Return beliefs after actions; where a game ended, those of a fresh one."""
        beliefs = jax.lax.map(lambda item: move(item[0], item[1], lookup), (beliefs, actions))
        if ended is not None:
            beliefs = jnp.where(ended[:, None], know_nothing()[None], beliefs)
        return beliefs
