"""What the experiments share: flags, runs of the ground-truth policies, and writing of tables and pictures."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from absl import app, flags

from rotajax.cli.setup import prepare_jax
from rotajax.files import write_atomically

SUITE = flags.DEFINE_string("suite", "mini", "embedded suite, or the folder of a built one")
LIMIT = flags.DEFINE_integer("limit", 4, "first tasks of the suite to play; 0 for all", lower_bound=0)
SEED = flags.DEFINE_integer("seed", 0, "first seed of the random policies", lower_bound=0)
OUT = flags.DEFINE_string("out", "runs/experiments", "folder for the run and for what is written")
RUNS = flags.DEFINE_multi_string("run", [], "a run folder to use instead of playing; may be given several times")


def main(experiment: Callable[[], None]) -> None:
    """Run an experiment as a script; a mistake in what was asked gives one line and exit status 2."""

    def run(argv: Sequence[str]) -> None:
        try:
            if len(argv) > 1:
                raise ValueError(f"experiment: expected flags only, got {argv[1:]} (see --help)")
            prepare_jax()
            experiment()
        except (ValueError, OSError) as error:
            print(" ".join(str(error).split()), file=sys.stderr)
            sys.exit(2)

    for flag in (SUITE, LIMIT, SEED, OUT, RUNS):  # else --help shows those of the script alone
        flags.FLAGS.register_key_flag_for_module(sys.argv[0], flags.FLAGS[flag.name])
    app.run(run)


def suite(**options):
    """Return the suite of the flags."""
    from rotajax.tasks.suite import load_suite

    return load_suite(SUITE.value, limit=LIMIT.value or None, **options)


def entries(policies: Sequence[str], *, seeds: int = 1, coverage: bool = False) -> list:
    """Return the methods of --run, or of these policies, played now and kept in --out."""
    from rotajax.analysis import load
    from rotajax.baselines import run_baselines
    from rotajax.reports.entries import make_entries, with_coverage

    runs = [Path(run) for run in RUNS.value]
    if not runs:
        names = "-".join(policies)
        runs = [Path(OUT.value) / f"{Path(SUITE.value).name}-{LIMIT.value}-{names}-{seeds}-{SEED.value}"]
        run_baselines(suite(), policies, seeds, runs[0], seed=SEED.value)
    found = make_entries([load(run, SUITE.value) for run in runs])
    return with_coverage(found) if coverage else found


def figure_rows(policies: Sequence[str], rows_of: Callable, *, seeds: int = 1) -> list[dict]:
    """Return `rows_of(method, paper)`, a row a metric of Tables 1 and 9, of every method of `entries`, named.

    paper: its figures by metric; empty for a method that it does not have.
    """
    from rotajax.reports.layout import SUMMARY, TRAJECTORY
    from rotajax.reports.paper import PAPER_ROWS

    names = {column.key: column.heading for column in (*SUMMARY, *TRAJECTORY)}
    return [
        {"policy": entry.policy, "figure": names[row["metric"]]} | row
        for entry in entries(policies, seeds=seeds)
        for row in rows_of(entry.method, PAPER_ROWS.get(entry.policy, {}))
    ]


def write(tables: Sequence, *, pictures: Sequence[str] = ()) -> None:
    """Write the tables, and those pictures of them that are named, to --out and print the tables."""
    from rotajax.reports.figures import figures
    from rotajax.reports.files import markdown, table_files

    out = Path(OUT.value)
    out.mkdir(parents=True, exist_ok=True)
    for table in tables:
        print(markdown(table))
        for name, data in table_files(table).items():
            write_atomically(out / name, data)
    drawn = figures(tables) if pictures else {}
    for name in pictures:
        _, png, svg = drawn[name]
        write_atomically(out / f"{name}.png", png)
        write_atomically(out / f"{name}.svg", svg)
    names = [table.name for table in tables] + list(pictures)
    print(f"written to {out}: {', '.join(names)}")


def named(tables: Sequence, *names: str) -> list:
    """Return the tables of these names."""
    return [table for table in tables if table.name in names]
