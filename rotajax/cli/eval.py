"""`rotajax eval`: a model, an agent or a program plays a suite, as records, a table and a curve."""

import argparse
import sys
from pathlib import Path

from rotajax.checks import require
from rotajax.cli.setup import prepare_jax

INCOMPLETE = 3
_EPILOG = f"""\
examples:
  rotajax eval --solver api --model gpt-5.6-sol --base-url https://api.openai.com/v1 --suite suites/r100 --out runs/sol
  rotajax eval --solver api --model M --base-url U --suite mini --limit 3 --prices prices.json --max-cost 2 --dry-run
  rotajax eval --solver api --model M --base-url U --suite mini --condition no_history --out runs/no_history
  rotajax eval --solver pixels --suite mini --limit 4 --out runs/pixels
  rotajax eval --solver react --model M --base-url U --suite mini --limit 3 --out runs/react
  rotajax eval --solver my_solver:solve --suite mini --out runs/mine

The key is taken from the environment only: ROTAJAX_API_KEY or OPENAI_API_KEY, or the variable that --key-env names. It
is written nowhere.

Every answer and every decision is on the disk before the next question. A run that was killed, stopped by --max-cost or
an exhausted quota, or left episodes open because the endpoint failed, goes on at the exact decision when the same
command is typed again. Then analyse it: rotajax analyse runs/sol --out report

exit status: 0 all episodes have ended; {INCOMPLETE} some are left: the same command goes on; 2 a mistake in it.
"""


def add(commands: argparse._SubParsersAction, style: type) -> None:
    """Describe the command."""
    text = "Let a model behind an API, an agent, or a solver of your own play a suite."
    parser = commands.add_parser("eval", help=text, description=text, epilog=_EPILOG, formatter_class=style)
    parser.add_argument(
        "--solver",
        default="api",
        metavar="NAME",
        help="api, pixels, react, magentic, checkpoint:DIR, or your own as module.path:function (default: api)",
    )
    parser.add_argument("--suite", default="mini", metavar="NAME|DIR", help="embedded suite or folder (default: mini)")
    parser.add_argument("--limit", type=int, metavar="N", help="play the first N tasks only (default: all)")
    conditions = ("full", "no_auxiliary", "no_history", "neither")
    parser.add_argument(
        "--condition", choices=conditions, default="full", help="which inputs the solver gets (default: full)"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="run folder (default: runs/SUITE-NAME)")
    parser.add_argument("--name", metavar="NAME", help="what tables call it (default: the model or the solver)")
    parser.add_argument("--in-flight", type=int, default=16, metavar="N", help="episodes at once (default: 16)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of a random solver (default: 0)")
    parser.add_argument("--devices", type=int, metavar="N", help="CPU cores to use (default: all usable ones)")
    _add_endpoint(parser)
    parser.add_argument(
        "--allow-unsandboxed",
        action="append",
        metavar="NAME",
        help="let react or magentic run code although this machine does not enforce NAME; the refusal names what it is",
    )
    parser.set_defaults(run=run)


def _add_endpoint(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("models", "any OpenAI-compatible endpoint; defaults are those of the paper")
    group.add_argument("--model", metavar="M", help="name of the model at the endpoint")
    group.add_argument("--base-url", metavar="U", help="address of the endpoint, usually ending in /v1")
    group.add_argument("--key-env", metavar="NAME", help="variable that holds the key")
    group.add_argument("--prices", type=Path, metavar="FILE", help="prices of models a million tokens (JSON)")
    group.add_argument("--max-cost", type=float, metavar="X", help="stop before more is spent; needs --prices")
    group.add_argument("--dry-run", action="store_true", help="send nothing: say what the run comes to")
    group.add_argument("--effort", default="medium", metavar="NAME", help="reasoning effort (default: medium)")
    group.add_argument("--temperature", type=float, default=0.0, metavar="T", help="temperature (default: 0)")
    group.add_argument("--max-tokens", type=int, default=8192, metavar="N", help="output tokens (default: 8192)")
    group.add_argument("--timeout", type=float, default=1500.0, metavar="S", help="seconds a request (default: 1500)")
    group.add_argument(
        "--preflight",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="one small request first, that tells a wrong key, a wrong model, no pictures (default: yes)",
    )


def run(args: argparse.Namespace) -> int:
    """Play, write and print."""
    prepare_jax(devices=args.devices)
    from rotajax.solvers.registry import ENDPOINTS, make_solver
    from rotajax.tasks.suite import load_suite

    suite = load_suite(args.suite, limit=args.limit)
    name = args.name or ((args.solver in ENDPOINTS and args.model) or args.solver)
    name = name if args.condition == "full" or args.name else f"{name} {args.condition}"
    if args.dry_run:
        return _dry_run(args, len(suite))
    solver = make_solver(args)
    from rotajax.reports.table import markdown_table
    from rotajax.solvers.loop import run_solver
    from rotajax.solvers.question import CONDITIONS
    from rotajax.solvers.tally import describe

    out = args.out or Path("runs") / f"{suite.info.id}-{_safe(name)}"
    summary = run_solver(
        suite,
        solver,
        out,
        name=name,
        condition=CONDITIONS[args.condition],
        concurrency=args.in_flight,
        seed=args.seed,
    )
    if summary["rows"]:
        print(markdown_table(summary["rows"]))
    print(f"\n{describe(summary)}\nwritten to {out}")
    told = summary["solver"]
    left = told["episodes"]["left"] + told["episodes"]["excluded"]
    if left:
        why = f"stopped: {told['stopped']}; " if told["stopped"] else ""
        print(f"rotajax: {why}{left} episodes are left: the same command again goes on", file=sys.stderr)
    return INCOMPLETE if left else 0


def _dry_run(args: argparse.Namespace, episodes: int) -> int:
    """Say what a run comes to."""
    from rotajax.solvers.endpoint import price_of
    from rotajax.solvers.estimate import ASSUMPTION, TURNS, TYPICAL_TURNS, estimate
    from rotajax.solvers.question import CONDITIONS
    from rotajax.solvers.registry import ENDPOINTS

    require(args.solver in ENDPOINTS, "--dry-run", f"a solver of {', '.join(ENDPOINTS)}", args.solver)
    price = price_of(args)
    print(f"{episodes} episodes of suite {args.suite}, condition {args.condition}; nothing is sent")
    for turns in (TYPICAL_TURNS, TURNS):
        print(estimate(episodes, CONDITIONS[args.condition], turns, price).line())
    print(ASSUMPTION)
    return 0


def _safe(name: str) -> str:
    return "".join(c if c.isalnum() or c in "._-" else "_" for c in name)
