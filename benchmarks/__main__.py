"""Time every question beside its peers, write the rows and the tables.

python -m benchmarks                       everything, under 10 minutes on two cores
python -m benchmarks --only exact_mask     one question; the tables keep the newest rows of the others
python -m benchmarks --only analysis       a large run's analysis, several minutes: not part of everything
python -m benchmarks --quick               small work, to see that all of it runs; writes to runs/bench
"""

import argparse
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from benchmarks import inputs as shared
from benchmarks.machine import ROOT, describe
from benchmarks.questions import LONG, NAMES
from benchmarks.report import write_readme
from benchmarks.rows import read_rows, write_rows
from benchmarks.turns import ParityError, measure

HERE = Path(__file__).parent
_HELP = f"{', '.join(NAMES)}; asked by name alone, minutes each: {', '.join(LONG)}"


def main(argv: list[str] | None = None) -> int:
    """Run the questions that the arguments name; 1 where subjects disagree or one fails, 2 for a bad argument."""
    parser = argparse.ArgumentParser("benchmarks", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=NAMES + LONG, metavar="Q", default=NAMES, help=_HELP)
    parser.add_argument("--quick", action="store_true", help="small work: shows that all runs, its times mean nothing")
    parser.add_argument("--icons", type=Path, metavar="DIR", help="folder of SVG icons (default: where it is found)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder of README.md and results/")
    args = parser.parse_args(argv)
    icons = args.icons or (shared.ICONS if shared.ICONS.is_dir() and not args.quick else None)
    out = args.out or (ROOT / "runs" / "bench" if args.quick else HERE)
    now = datetime.now(UTC)
    facts = {**describe(), "started": now.isoformat(timespec="seconds"), "quick": args.quick}
    path = out / "results" / f"{now:%Y-%m-%d}-{facts['commit'] or 'unknown'}.jsonl"
    failed = []
    with tempfile.TemporaryDirectory(prefix="rotajax-bench-") as folder:
        try:
            work = shared.make_inputs(Path(folder), icons, count=2, quick=args.quick)
            for name in args.only:
                begun = time.perf_counter()
                try:
                    rows = ask(name, work, facts)
                except RuntimeError as error:  # one broken subject does not cost the other questions
                    failed.append(name)
                    print(f"benchmarks: {name}: {error}", file=sys.stderr)
                    continue
                # Written a question at a time: what was measured survives a later failure.
                write_rows(path, rows)
                print(f"{name}: {len(rows)} rows in {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
        except ParityError as error:
            print(f"benchmarks: parity: {error}", file=sys.stderr)
            return 1
        except ValueError as error:
            print(f"benchmarks: {error}", file=sys.stderr)
            return 2
    write_readme(out / "README.md", read_rows(out / "results"))
    print(f"wrote {path} and {out / 'README.md'}", file=sys.stderr)
    if failed:
        print(f"benchmarks: failed: {', '.join(failed)}", file=sys.stderr)
    return bool(failed)


def ask(name: str, work: shared.Inputs, facts: dict) -> list[dict]:
    """Return the rows of one question."""
    question = import_module(f"benchmarks.questions.{name}")
    return [row for case in question.cases(work, facts["quick"]) for row in measure(case, work, facts)]


if __name__ == "__main__":
    sys.exit(main())
