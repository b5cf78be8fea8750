"""Code in sandboxes of both kinds, for the tests of what shuts it in."""

import asyncio
import textwrap
from pathlib import Path

from rotajax.solvers.agents.sandbox import Layers, Limits, Sandbox

KINDS = {"namespaces": Layers(), "filters": Layers(namespaces=False)}
SMALL = Limits(seconds=60.0, memory_mib=512, workspace_mib=16)


async def run_all(layers, codes, limits, files, seconds):
    async with await Sandbox.open(files, limits=limits, layers=layers) as box:
        limited = [seconds, *[None] * len(codes)]
        return [
            await box.run(textwrap.dedent(code), seconds=limit) for code, limit in zip(codes, limited, strict=False)
        ]


def play(layers, *codes, limits=SMALL, files=(), seconds=None):
    """Run pieces of code one after the other in one sandbox and return their outcomes; `seconds` limits the first."""
    return asyncio.run(run_all(layers, codes, limits, dict(files), seconds))


def goes_on(outcome):
    return outcome.ended == "exit" and outcome.code == 0 and outcome.output == "still here\n"


AGAIN = "print('still here')"


def running(mark):
    """Numbers of the processes whose command line has a mark."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark in (entry / "cmdline").read_text(errors="replace"):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def children(process):
    return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
