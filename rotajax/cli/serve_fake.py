"""`rotajax serve-fake`: a local endpoint that plays from pictures, for tests and demonstrations."""

import argparse
import os
from pathlib import Path

_EPILOG = """\
examples:
  rotajax serve-fake --port 8000 --play pixels
  rotajax serve-fake --port 8000 --play random --faults all --fault-rate 0.2 --log asked.jsonl
  rotajax eval --solver api --model fake --base-url http://127.0.0.1:8000/v1 --suite mini --out runs/fake

It speaks the protocol of OpenAI-compatible chat completions. random, stop and pixels know the request's pictures and
nothing else; pose_greedy and iou_greedy know the suite as well and follow the actions in the request's history.
"""


def add(commands: argparse._SubParsersAction, style: type) -> None:
    """Describe the command."""
    text = "Serve a local chat-completions endpoint that plays from the pictures it is sent, and misbehaves if told to."
    parser = commands.add_parser("serve-fake", help=text, description=text, epilog=_EPILOG, formatter_class=style)
    parser.add_argument("--host", default="127.0.0.1", metavar="H", help="address to listen at (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, metavar="P", help="port, 0 for a free one (default: 8000)")
    parser.add_argument(
        "--play", default="random", metavar="NAME", help="random, stop, pixels, pose_greedy or iou_greedy"
    )
    parser.add_argument("--suite", metavar="NAME|DIR", help="the suite that pose_greedy and iou_greedy know")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of random play and faults (default: 0)")
    parser.add_argument("--model", default="fake", metavar="M", help="name of the model it serves (default: fake)")
    parser.add_argument(
        "--faults", default="", metavar="KINDS", help="comma-separated: 429, 429_after, 500, slow, html, ... or all"
    )
    parser.add_argument(
        "--fault-rate", type=float, default=0.2, metavar="R", help="share of answers with a fault (default: 0.2)"
    )
    parser.add_argument("--max-images", type=int, metavar="N", help="refuse requests with more pictures")
    parser.add_argument(
        "--refuse", nargs="+", default=[], metavar="NAME", help="parameters to refuse, such as max_tokens temperature"
    )
    parser.add_argument(
        "--key-env", metavar="NAME", help="variable with the only key that is let in (default: any key)"
    )
    parser.add_argument("--log", type=Path, metavar="FILE", help="write a JSON line for every answered request")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C or SIGTERM."""
    from rotajax.checks import require
    from rotajax.cli.setup import prepare_jax
    from rotajax.solvers.fake.faults import Faults, read_faults
    from rotajax.solvers.fake.log import AnswerLog
    from rotajax.solvers.fake.players import make_player
    from rotajax.solvers.fake.serve import serve
    from rotajax.solvers.fake.server import Manners, make_app

    require(0 <= args.port < 2**16, "serve-fake: --port", "a port from 0 to 65535", args.port)
    prepare_jax(devices=1)
    faults = Faults(read_faults(args.faults), args.fault_rate, args.seed)
    player = make_player(args.play, suite=args.suite, seed=args.seed)
    key = os.environ.get(args.key_env) if args.key_env else None
    require(not args.key_env or bool(key), f"serve-fake: --key-env {args.key_env}", "a variable that is set", "none")
    manners = Manners(model=args.model, key=key, refused=tuple(args.refuse), max_images=args.max_images)
    app = make_app(player, manners=manners, faults=faults, log=AnswerLog(args.log))
    serve(app, args.host, args.port, lambda base: print(f"serving model {args.model} at {base}", flush=True))
    return 0
