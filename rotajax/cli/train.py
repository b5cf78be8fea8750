"""`rotajax train`: policies that see what a model sees, by imitation or by PPO, into a folder of checkpoints."""

import argparse
from pathlib import Path

from rotajax.cli.setup import prepare_jax

_EPILOG = """\
examples:
  rotajax suite materialise rota674 --icons game-icons --split train --out suites/train
  rotajax train imitation --suite suites/train --out runs/imitation
  rotajax train imitation --suite suites/train --out runs/imitation --resume
  rotajax train ppo --suite suites/train --from runs/imitation --out runs/ppo
  rotajax baselines --suite suites/test --policies checkpoint:runs/imitation pose_greedy --out runs/trained
  rotajax train ship runs/imitation --out small

The folder gets checkpoints/, metrics.jsonl (a line an update) and curve.png. A run that was killed goes on to the same
next update with --resume. Icons of the test split are refused. Needs the extra: pip install 'rotajax[train]'.
"""
# Option, field of the recipe, type and help; what is not given stays at the recipe's default for the kind.
_NUMBERS = (
    ("--updates", int, "updates in all"),
    ("--width", int, "features of the network"),
    ("--depth", int, "residual blocks of the network"),
    ("--match", int, "numbers that two turns are compared by"),
    ("--nudge", int, "features of the head that tells small offsets"),
    ("--free", int, "poses drawn an update, beside those met in play"),
    ("--games", int, "games played at once"),
    ("--turns", int, "turns an update"),
    ("--epochs", int, "passes over an update's states"),
    ("--batch", int, "states a step of the optimiser"),
    ("--rate", float, "largest learning rate"),
)
_DEFAULTS = {"imitation": {}, "ppo": {"updates": 200, "games": 16, "turns": 32, "rate": 1e-4, "epochs": 2}}


def add(commands: argparse._SubParsersAction, style: type) -> None:
    """Describe the command."""
    text = "Train policies inside the simulator."
    parser = commands.add_parser("train", help=text, description=text, epilog=_EPILOG, formatter_class=style)
    kinds = parser.add_subparsers(title="kinds", metavar="KIND", required=True)
    about = {"imitation": "Imitate a teacher that knows the pose (DAgger).", "ppo": "Learn from rewards (PPO)."}
    for kind, line in about.items():
        one = kinds.add_parser(kind, help=line, description=line, epilog=_EPILOG, formatter_class=style)
        one.add_argument("--suite", required=True, metavar="DIR", help="suite folder to train on")
        one.add_argument("--split", metavar="NAME", help="what the suite must be a split of: train")
        one.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the run")
        one.add_argument("--resume", action="store_true", help="go on with the run in --out")
        one.add_argument("--from", dest="begin_from", metavar="DIR", help="checkpoint whose weights to begin with")
        one.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the run (default: 0)")
        one.add_argument("--no-auxiliary", action="store_true", help="without the auxiliary view")
        one.add_argument("--no-history", action="store_true", help="without memory of earlier turns")
        if kind == "imitation":
            one.add_argument("--teacher", default="pose_greedy", help="pose_greedy or searched")
        for option, number, help_text in _NUMBERS:
            one.add_argument(option, type=number, metavar="N", help=help_text)
        one.set_defaults(run=run, kind=kind)
    line = "Write what plays of a run as a small checkpoint."
    small = kinds.add_parser("ship", help=line, description=line)
    small.add_argument("folder", metavar="RUN", help="folder of a run or of a checkpoint")
    small.add_argument("--out", type=Path, required=True, metavar="DIR", help="new folder")
    small.set_defaults(run=run_ship)


def run(args: argparse.Namespace) -> int:
    """Train."""
    prepare_jax(devices=1)
    from rotajax.train.extra import require_extra

    require_extra()
    from rotajax.tasks.suite import load_suite
    from rotajax.train.recipe import Recipe
    from rotajax.train.run import train

    given = {option.removeprefix("--"): getattr(args, option.removeprefix("--")) for option, *_ in _NUMBERS}
    numbers = _DEFAULTS[args.kind] | {name: value for name, value in given.items() if value is not None}
    flags = {"auxiliary": not args.no_auxiliary, "history": not args.no_history}
    if args.kind == "imitation":
        flags["teacher"] = args.teacher
    recipe = Recipe(kind=args.kind, seed=args.seed, **flags, **numbers).check()
    suite = load_suite(_materialised(args.suite, args.split))
    found = train(recipe, suite, args.out, resume=args.resume, begin_from=args.begin_from)
    print(f"{recipe.updates} updates on {len(suite)} tasks of suite {suite.info.id}; written to {found}")
    return 0


def run_ship(args: argparse.Namespace) -> int:
    """Write a small checkpoint."""
    prepare_jax(devices=1)
    from rotajax.train.extra import require_extra

    require_extra()
    from rotajax.train.run import ship

    print(f"written to {ship(args.folder, args.out)}")
    return 0


def _materialised(suite: str, split: str | None) -> str:
    """Return the suite's folder. Raises ValueError, with the command that makes one, for a manifest's name."""
    from rotajax.checks import require
    from rotajax.tasks.manifest import manifests

    make = f"rotajax suite materialise {suite} --icons game-icons --split {split or 'train'} --out suites/train"
    manifest = suite in manifests() and not Path(suite).exists()
    require(not manifest, "train: --suite", "a suite's folder", f"the name of a manifest; make its folder: {make}")
    if split is not None:
        require(split == "train", "train: --split", "train", repr(split))
    return suite
