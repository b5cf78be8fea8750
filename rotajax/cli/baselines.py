"""`rotajax baselines`: the ground-truth policies on a suite, as a table, a curve and run files."""

import argparse
from pathlib import Path

from rotajax.cli.setup import add_devices, join_processes, prepare_jax

_EPILOG = """\
examples:
  rotajax baselines                                    the four policies on the embedded suite
  rotajax baselines --suite suites/real --limit 100 --out runs/real
  rotajax baselines --policies pose_greedy iou_greedy --seed 7 --out runs/greedy
  rotajax baselines --policies checkpoint:runs/imitation pose_greedy --out runs/trained

The folder gets episodes.jsonl (a line a decision and an episode), summary.json, iou_steps.png and run.json. A run that
was killed goes on where it was when the same command is typed again; so does a finished one, at once.
"""


def add(commands: argparse._SubParsersAction, style: type) -> None:
    """Describe the command."""
    from rotajax.policies.baseline import POLICIES, RANDOM_POLICIES

    text = "Play the paper's ground-truth policies on a suite and print Tables 1 and 9 for it."
    parser = commands.add_parser("baselines", help=text, description=text, epilog=_EPILOG, formatter_class=style)
    parser.add_argument("--suite", default="mini", metavar="NAME|DIR", help="embedded suite or folder (default: mini)")
    names = ", ".join(POLICIES) + "; or checkpoint:DIR, a trained policy"
    parser.add_argument(
        "--policies",
        nargs="+",
        default=list(POLICIES),
        metavar="NAME",
        help=f"some of: {names} (default: the four)",
    )
    randoms = " and ".join(RANDOM_POLICIES)
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help=f"seeds for {randoms} (default: 3)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="the first of the seeds (default: 0)")
    parser.add_argument("--limit", type=int, metavar="N", help="play the first N tasks only (default: all)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="run folder (default: runs/SUITE)")
    parser.add_argument(
        "--paper",
        action=argparse.BooleanOptionalAction,
        help="show the paper's rows beside ours (default: where the suite has icons of the paper's collection)",
    )
    add_devices(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Play, write and print."""
    prepare_jax(devices=args.devices)
    join_processes(args)
    from rotajax.baselines import run_baselines
    from rotajax.processes import is_leader
    from rotajax.reports.table import markdown_table
    from rotajax.tasks.suite import load_suite

    suite = load_suite(args.suite, limit=args.limit)
    out = args.out or Path("runs") / suite.info.id
    summary = run_baselines(suite, args.policies, args.seeds, out, seed=args.seed)
    if not is_leader():
        return 0
    # The paper's collection is CC BY 3.0; the embedded icons are this project's own, and another game.
    real = any(row["icon"]["licence"] == "CC BY 3.0" for row in suite.info.rows)
    print(markdown_table(summary["rows"], paper=real if args.paper is None else args.paper))
    print(f"\n{len(suite)} tasks of suite {suite.info.id}; written to {out}")
    return 0
