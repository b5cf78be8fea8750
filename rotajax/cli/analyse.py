"""`rotajax analyse` and `rotajax compare`: tables, pictures and a page from run folders."""

import argparse
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from rotajax.checks import require
from rotajax.cli.setup import prepare_jax

if TYPE_CHECKING:
    from rotajax.reports.entries import Entry

_ANALYSE = """\
examples:
  rotajax analyse runs/mini --out report                       open report/index.html
  rotajax analyse runs/sol runs/luna --suite suites/real --out report --parquet

Each table is there as Markdown, CSV and JSON, each picture as PNG and SVG; index.html has all of it in one file that
needs no network. The folder is replaced where it holds an earlier report, refused where it holds something else.
"""
_COMPARE = """\
examples:
  rotajax compare runs/human runs/sol --suite suites/real --out comparison
  rotajax compare runs/mini runs/mini --policies pose_greedy iou_greedy --out comparison

Methods of the same name are compared with each other; without one, every method of the first run with every one of
the second. Differences have paired intervals over the tasks that both played; matched states are Appendix K.6.
"""


def add(commands: argparse._SubParsersAction, style: type) -> None:
    """Describe the commands."""
    text = "Make tables, pictures and a page from run folders of a suite."
    parser = commands.add_parser("analyse", help=text, description=text, epilog=_ANALYSE, formatter_class=style)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="run folders")
    _add_options(parser)
    parser.set_defaults(run=run_analyse)
    text = "Compare two runs on the tasks that both played."
    parser = commands.add_parser("compare", help=text, description=text, epilog=_COMPARE, formatter_class=style)
    parser.add_argument("first", type=Path, metavar="RUN_A", help="a run folder")
    parser.add_argument("second", type=Path, metavar="RUN_B", help="another, or the same with --policies")
    names = "a policy of RUN_A and one of RUN_B (default: those of the same name)"
    parser.add_argument("--policies", nargs=2, metavar=("A", "B"), help=names)
    _add_options(parser)
    parser.set_defaults(run=run_compare)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the report")
    parser.add_argument(
        "--suite", metavar="NAME|DIR", help="the suite of the runs (default: the embedded one of their id)"
    )
    parser.add_argument(
        "--replays",
        type=int,
        default=2500,
        metavar="N",
        help="episodes of each method to replay on the page, at most (default: 2500)",
    )
    parser.add_argument(
        "--coverage",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="measure how much of the surface was seen (default: yes; a third of a second an episode)",
    )
    parser.add_argument("--paper", action=argparse.BooleanOptionalAction, help="show the paper's rows as well")
    parser.add_argument("--parquet", action="store_true", help="write the tables as Parquet too (needs pyarrow)")
    parser.add_argument(
        "--successors",
        action="store_true",
        help="write the pose errors after all 24 rotations at every pose too, successors.npz",
    )
    parser.add_argument(
        "--draw",
        type=int,
        default=200,
        metavar="N",
        help="states of a run whose silhouettes are drawn again to check their IoU (default: 200)",
    )
    parser.add_argument("--no-check", action="store_true", help="analyse a run even if its steps do not replay")


def run_analyse(args: argparse.Namespace) -> int:
    """Write the report of one or more runs."""
    prepare_jax()
    from rotajax.report import write_report

    print(f"written to {write_report(args.runs, args.out, **_options(args))}")
    return 0


def run_compare(args: argparse.Namespace) -> int:
    """Write the report of two runs with their comparison."""
    prepare_jax()
    from rotajax.report import write_report

    same = args.first.resolve() == args.second.resolve()
    require(not same or bool(args.policies), "compare", "two runs, or --policies A B for two of one run", "one run")
    runs = [args.first] if same else [args.first, args.second]

    def pairing(entries: Sequence["Entry"]) -> list[tuple[int, int]]:
        def side(path: Path) -> dict[int, str]:
            return {row: e.policy for row, e in enumerate(entries) if same or e.analysis.run.path == path}

        return _pairs(side(args.first), side(args.second), args.policies)

    names = [path.resolve().name for path in (args.first, args.second)]
    title = (
        "Comparison of {} and {} in {}".format(*args.policies, names[0])
        if same
        else f"Comparison of {names[0]} and {names[1]}"
    )
    page = write_report(runs, args.out, title=title, pairing=pairing, **_options(args))
    print(f"written to {page}")
    return 0


def _pairs(first: dict[int, str], second: dict[int, str], chosen: Sequence[str] | None) -> list[tuple[int, int]]:
    """Return pairs of rows of two sides, each the policies of its rows."""
    pairs = list(product(first, second))
    if chosen:
        for side, name in zip((first, second), chosen, strict=True):
            require(name in side.values(), "compare: --policies", "one of " + ", ".join(side.values()), repr(name))
        require(first != second or chosen[0] != chosen[1], "compare: --policies", "two", f"{chosen[0]!r} twice")
        return [(a, b) for a, b in pairs if (first[a], second[b]) == tuple(chosen)]
    return [(a, b) for a, b in pairs if first[a] == second[b]] or pairs


def _options(args: argparse.Namespace) -> dict:
    return {
        "suite": args.suite,
        "replay": args.replays,
        "coverage": args.coverage,
        "paper": args.paper,
        "parquet": args.parquet,
        "successors": args.successors,
        "check": not args.no_check,
        "draw": args.draw,
    }
