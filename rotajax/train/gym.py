"""Gymnasium's interfaces to the training environment: `AlignmentVectorEnv` for many games, `AlignmentEnv` for one."""

import dataclasses
from typing import Any, ClassVar

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from rotajax.checks import require, require_at_least
from rotajax.env.actions import ACTIONS, STOP
from rotajax.env.state import RUNNING, Params
from rotajax.tasks.suite import Suite
from rotajax.train.env import Step, advance_many, begin_many
from rotajax.train.picture import SIDE
from rotajax.train.world import Pictures, make_world

# Weights of the rewards: success, change of the IoU, change of the pose error / 180 (privileged).
REWARD = (1.0, 1.0, 0.0)
# Numbers of a game that an info has; the pose error is privileged.
INFO = ("iou", "pose_error", "steps", "outcome")


def game_space(memory: int) -> gymnasium.Space:
    """Return what is observed of one game: three pictures, and the last `memory` actions where it is not 0.

    An action before the first one is len(ACTIONS).
    """
    picture = gymnasium.spaces.Box(0, 255, (SIDE, SIDE), np.uint8)
    spaces: dict[str, gymnasium.Space] = dict.fromkeys(("target", "view", "current"), picture)
    if memory:
        spaces["actions"] = gymnasium.spaces.MultiDiscrete(np.full(memory, len(ACTIONS) + 1))
    return gymnasium.spaces.Dict(spaces)


class AlignmentVectorEnv(VectorEnv):
    """Many games of a suite's icons; an ended one begins anew within the same step, its last picture in the info.

    Actions are indices of ACTIONS. `final_obs` of the info keeps the last observation of ended games.
    """

    metadata: ClassVar[dict[str, Any]] = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}

    def __init__(
        self,
        suite: Suite,
        num_envs: int = 16,
        *,
        memory: int = 0,
        reward: tuple[float, float, float] = REWARD,
        params: Params | None = None,
    ):
        require_at_least(num_envs, 1, "train: number of games")
        require_at_least(memory, 0, "train: remembered actions")
        require(len(reward) == 3, "train: reward", "weights of success, IoU change and pose change", repr(reward))
        self.num_envs, self.memory = num_envs, memory
        self.single_observation_space = game_space(memory)
        self.single_action_space = gymnasium.spaces.Discrete(len(ACTIONS))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._world = jax.device_put(make_world(suite))
        params, weights = params or Params(), tuple(map(np.float32, reward))
        keep = max(memory, 1)
        self._begin = jax.jit(lambda key, world: begin_many(key, num_envs, world, params, memory=keep))
        self._advance = jax.jit(lambda games, actions, world: advance_many(games, actions, world, params, weights))
        self._games: Any = None

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[dict, dict]:
        """Return the first observations of fresh games; the same seed gives the same games."""
        super().reset(seed=seed, options=options)
        draw = int(self.np_random.integers(2**31))
        self._games, seen = self._begin(jax.random.key(draw), self._world)
        actions = self._games.actions
        state = self._games.state
        info = {"iou": state.iou, "pose_error": self._games.pose_error, "steps": state.steps, "outcome": state.outcome}
        return self._observation(seen, actions), self._info(info)

    def step(self, actions: np.ndarray) -> tuple[dict, np.ndarray, np.ndarray, np.ndarray, dict]:
        """Return observations, rewards, terminations, truncations and the info after one action a game."""
        require(self._games is not None, "train: step", "a reset before the first step", "none")
        actions = np.asarray(actions)
        good = actions.shape == (self.num_envs,) and bool(((actions >= 0) & (actions <= STOP)).all())
        require(good, "train: actions", f"{self.num_envs} indices from 0 to {STOP}", repr(actions))
        before = self._games.actions
        self._games, step = self._advance(self._games, jnp.asarray(actions, jnp.int32), self._world)
        step: Step = jax.device_get(step)
        ended = step.outcome != RUNNING
        info = self._info({name: getattr(step, name) for name in INFO})
        if ended.any():
            last = np.concatenate([np.asarray(before)[:, 1:], actions[:, None].astype(np.int32)], axis=1)
            finals = self._observation(step.final, last)
            final = np.full(self.num_envs, None, object)
            for row in np.flatnonzero(ended):
                final[row] = {name: value[row] for name, value in finals.items()}
            info |= {"final_obs": final, "_final_obs": ended}
        seen = self._observation(step.seen, self._games.actions)
        return seen, np.asarray(step.reward, np.float64), np.asarray(step.terminated), np.asarray(step.truncated), info

    def _observation(self, seen: Pictures, actions: Any) -> dict:
        found = {field.name: np.array(getattr(seen, field.name)) for field in dataclasses.fields(seen)}
        if self.memory:
            actions = np.asarray(actions)
            found["actions"] = np.where(actions < 0, len(ACTIONS), actions).astype(np.int64)
        return {name: found[name] for name in self.single_observation_space.spaces}  # type: ignore[attr-defined]

    def _info(self, values: dict) -> dict:
        everywhere = np.ones(self.num_envs, bool)
        return {name: np.asarray(value) for name, value in values.items()} | {f"_{n}": everywhere for n in values}


class AlignmentEnv(gymnasium.Env):
    """One game of a suite's icons, for libraries that want no batch; after its end it is to be reset."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self, suite: Suite, **options: Any):
        self._many = AlignmentVectorEnv(suite, 1, **options)
        self.observation_space = self._many.single_observation_space
        self.action_space = self._many.single_action_space

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[dict, dict]:
        """Return the first observation of a fresh game, and the info."""
        super().reset(seed=seed, options=options)
        seen, info = self._many.reset(seed=int(self.np_random.integers(2**31)))
        return _first(seen), _numbers(info)

    def step(self, action: int | np.integer) -> tuple[dict, float, bool, bool, dict]:
        """Return observation, reward, terminated, truncated and info after an action."""
        seen, reward, terminated, truncated, info = self._many.step(np.array([action]))
        first = info["final_obs"][0] if "final_obs" in info else _first(seen)
        return first, float(reward[0]), bool(terminated[0]), bool(truncated[0]), _numbers(info)


def _first(seen: dict) -> dict:
    return {name: value[0].copy() for name, value in seen.items()}


def _numbers(info: dict) -> dict:
    return {name: info[name][0].item() for name in INFO}
