"""`open_workshop`: how model-written code is shut in, by what this machine enforces and what the command allows."""

import argparse
from pathlib import Path

from rotajax.solvers.agents.probe import Capabilities, available
from rotajax.solvers.agents.tools import Workshop


def open_workshop(args: argparse.Namespace) -> tuple[Workshop, dict]:
    """Return the workshop of an agent's run, and what run.json says of it.

    Raises SandboxError, a ValueError, where this machine does not enforce what --allow-unsandboxed does not name.
    """
    found = available()
    layers = found.require(args.allow_unsandboxed or ())
    hidden = [Path(args.suite)] if Path(args.suite).exists() else []
    hidden += [args.out] if args.out else []
    workshop = Workshop(layers, hidden=tuple(path.resolve() for path in hidden))
    return workshop, {"tools": workshop.calls, "limits": workshop.limits._asdict(), "sandbox": _enforced(found)}


def _enforced(found: Capabilities) -> dict:
    return {"layers": found.layers._asdict(), "not_enforced": list(found.missing)}
