"""`main`: the command line. One file a command; each has `add`, which describes it, and a function that does it."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from rotajax.cli import analyse, baselines, eval, icons, serve_fake, suite, train

_EPILOG = """\
examples:
  rotajax baselines --suite mini --out runs/mini      the four baselines on the embedded suite
  rotajax analyse runs/mini --out report              tables, pictures and a page of it
  rotajax icons scan game-icons --json icons.json     which icons of a folder can become solids

A mistake in what was asked gives one line and exit status 2. Set ROTAJAX_TRACEBACK=1 to see where it was found.
"""


class Parser(argparse.ArgumentParser):
    """A parser whose mistakes are ValueErrors of one line, as everywhere else."""

    def error(self, message: str) -> NoReturn:
        """Raise ValueError with the command's name."""
        name = self.prog.removeprefix("rotajax").strip() or "command"
        raise ValueError(f"{name}: {message} (see {self.prog} --help)")


def make_parser() -> Parser:
    """Return the parser of the whole command line."""
    from rotajax import __doc__ as about
    from rotajax import __version__

    style = argparse.RawDescriptionHelpFormatter
    parser = Parser("rotajax", description=about, epilog=_EPILOG, formatter_class=style)
    parser.add_argument("--version", action="version", version=f"rotajax {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (baselines, eval, analyse, icons, suite, train, serve_fake):
        command.add(commands, style)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0, 2 for a mistake in what was asked, 130 for Ctrl-C."""
    try:
        try:
            args = make_parser().parse_args(argv)
            return args.run(args)
        finally:
            _flush()  # here, where a reader that went away and a full disk still end as they should
    except KeyboardInterrupt:
        print("\nrotajax: interrupted; the same command again goes on where it was", file=sys.stderr)
        return 130
    except BrokenPipeError:
        _drop_output()  # its reader went away: nothing is left to say
        return 1
    except (ValueError, OSError) as error:
        if os.environ.get("ROTAJAX_TRACEBACK"):
            raise
        try:
            _flush()
        except OSError:
            _drop_output()
        print(f"rotajax: {_one_line(error)}", file=sys.stderr)
        return 2


def _flush() -> None:
    if sys.stdout is not None:  # closed by who started us
        sys.stdout.flush()


def _drop_output() -> None:
    """Send what standard output still holds nowhere, so that its end at exit does not fail as well."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror + (f": '{error.filename}'" if error.filename else "")
    return " ".join(str(error).split())
