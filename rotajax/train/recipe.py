"""`Recipe`: the numbers of a training run; a checkpoint carries them, and a run goes on only under the same ones."""

import dataclasses

from rotajax.checks import require, require_at_least


@dataclasses.dataclass(frozen=True, kw_only=True)
class Recipe:
    """Shapes and rates. Shapes are the network's and the batches'; changing any of them is another run."""

    kind: str = "imitation"
    seed: int = 0
    updates: int = 480
    loop: int = 4  # updates in one scan, between two looks at the clock
    width: int = 64
    depth: int = 3
    match: int = 32
    nudge: int = 32  # width of the head that tells small offsets
    auxiliary: bool = True
    history: bool = True
    free: int = 256  # poses drawn an update, beside those that the policy meets
    games: int = 32
    turns: int = 8  # steps a game an update
    epochs: int = 2
    batch: int = 128
    rate: float = 2e-3
    decay: float = 1e-4
    warmup: int = 20
    teacher: str = "pose_greedy"
    action_weight: float = 0.1
    offset_weight: float = 0.1

    def check(self) -> "Recipe":
        """Return the recipe. Raises ValueError for a number that makes no run."""
        shapes = ("width", "depth", "match", "nudge")
        for name in ("updates", "loop", *shapes, "free", "games", "turns", "epochs", "batch"):
            require_at_least(getattr(self, name), 1, f"train: {name}")
        whole = self.updates % self.loop == 0
        require(whole, "train: updates", f"a multiple of {self.loop}, which run in one scan", self.updates)
        states = self.states
        require(states % self.batch == 0, "train: states an update", f"a multiple of --batch {self.batch}", states)
        require(self.rate > 0, "train: rate", "a positive number", self.rate)
        return self

    @property
    def states(self) -> int:
        """How many states an update learns from."""
        met = self.games * self.turns
        return met if self.kind == "ppo" else met + self.free
