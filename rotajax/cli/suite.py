"""`rotajax suite build | verify | show`: make, check and look at suites."""

import argparse
from pathlib import Path

from rotajax.cli.setup import add_devices, join_processes

_BUILD = """\
example:
  rotajax suite build --icons game-icons --out suites/real100 --limit 100 --seed 7

The same icons and seed give the same bytes. A task does not depend on --limit. The suite's folder needs no SVG
rasteriser to be used; ATTRIBUTION.md in it is the attribution that the icons' licences ask for.
"""
_SEARCH = """\
examples:
  rotajax suite search suites/real100
  rotajax suite search suites/real100 --coordinator host0:9911 --processes 2 --process 0    (and 1 on the other host)

Appendix H: a pose-guided beam of 256 and breadth-first search over 30-degree turns, each path replayed with the exact
renderer; then all 24 rotations, shortest words first, for a lower bound. Killed and started again, it goes on.
"""
_MATERIALISE = """\
examples:
  rotajax suite materialise rota674 --icons game-icons --split test --out suites/rota674-test
  rotajax suite materialise rota674 --icons git --out suites/rota674

--icons git fetches the repository that the manifest names at its commit, once. An icon whose sha256 differs is refused.
"""
_MANIFEST = """\
example:
  rotajax suite manifest suites/rota674 --out manifests --repository https://host/icons.git --commit SHA

The test split has 100 tasks whose reference has at least four rotations: places by Hamilton's largest remainder over
path lengths, tasks ranked by SHA-256 of the split's seed and the task's identifier (Appendix I).
"""
_SHOW = """\
example:
  rotajax suite show mini single_00003 --out task.png

The picture is the panel that a solver sees at the start: target, auxiliary view, current silhouette.
"""


def add(commands: argparse._SubParsersAction, style: type) -> None:
    """Describe the commands."""
    text = "Build, check and look at suites of tasks."
    group = commands.add_parser("suite", help=text, description=text).add_subparsers(metavar="COMMAND", required=True)
    text = "Make a suite from the accepted icons of a folder."
    build = group.add_parser("build", help=text, description=text, epilog=_BUILD, formatter_class=style)
    build.add_argument(
        "--icons", type=Path, required=True, metavar="DIR", help="folder with .svg files and license.txt"
    )
    build.add_argument("--out", type=Path, required=True, metavar="DIR", help="new folder for the suite")
    build.add_argument("--id", metavar="NAME", help="identifier of the suite (default: the name of --out)")
    build.add_argument("--limit", type=int, metavar="N", help="so many tasks, drawn by --seed (default: all icons)")
    build.add_argument("--seed", type=int, default=0, metavar="S", help="seed of starts and of the draw (default: 0)")
    build.add_argument("--workers", type=int, metavar="N", help="processes (default: all cores)")
    build.add_argument("--no-search", action="store_true", help="leave reference and shortest paths out")
    build.set_defaults(run=run_build)
    text = "Search reference paths and proved shortest paths for the tasks of a suite folder."
    search = group.add_parser("search", help=text, description=text, epilog=_SEARCH, formatter_class=style)
    search.add_argument("suite", type=Path, metavar="DIR", help="a suite folder; its suite.json is rewritten")
    search.add_argument("--reference-only", action="store_true", help="Appendix H alone: no wider search, no bound")
    add_devices(search)
    search.set_defaults(run=run_search)
    text = "Make the suite of a manifest from its icons."
    materialise = group.add_parser(
        "materialise", help=text, description=text, epilog=_MATERIALISE, formatter_class=style
    )
    materialise.add_argument("manifest", metavar="NAME|FILE", help="a manifest of the package, or a file")
    materialise.add_argument("--icons", required=True, metavar="DIR|URL|git", help="where the icons are")
    materialise.add_argument("--out", type=Path, required=True, metavar="DIR", help="new folder for the suite")
    materialise.add_argument("--split", metavar="NAME", help="one split only: test or train")
    materialise.add_argument("--workers", type=int, metavar="N", help="processes (default: all cores)")
    materialise.set_defaults(run=run_materialise)
    text = "Write the manifest of a searched suite and of its test split: everything but the geometry."
    manifest = group.add_parser("manifest", help=text, description=text, epilog=_MANIFEST, formatter_class=style)
    manifest.add_argument("suite", type=Path, metavar="DIR", help="a suite folder with reference paths")
    manifest.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for ID.json and ID-test.json")
    manifest.add_argument("--split-seed", type=int, default=0, metavar="S", help="seed of the test split (default: 0)")
    manifest.add_argument("--repository", metavar="URL", help="where git finds the icons")
    manifest.add_argument("--commit", metavar="SHA", help="the icons' commit there, all 40 digits")
    manifest.set_defaults(run=run_manifest)
    text = "Check every byte of a suite against its hashes."
    verify = group.add_parser("verify", help=text, description=text)
    verify.add_argument("suite", metavar="DIR", help="a suite folder, or the name of an embedded suite")
    verify.set_defaults(run=run_verify)
    text = "Draw the first panel of a task."
    show = group.add_parser("show", help=text, description=text, epilog=_SHOW, formatter_class=style)
    show.add_argument("suite", metavar="DIR", help="a suite folder, or the name of an embedded suite")
    show.add_argument("task", metavar="TASK", help="identifier of a task, such as single_00000")
    show.add_argument("--out", type=Path, required=True, metavar="FILE.png", help="picture to write")
    show.set_defaults(run=run_show)


def run_build(args: argparse.Namespace) -> int:
    """Build the suite and say what it holds."""
    from rotajax.cli.setup import prepare_jax

    prepare_jax()
    from rotajax.tasks.build import build_suite
    from rotajax.tasks.folder import read_document

    out = build_suite(args.icons, args.out, suite_id=args.id, limit=args.limit, seed=args.seed, workers=args.workers)
    document = read_document(out)
    print(_describe(document))
    if not args.no_search:
        _search(out, wide=True)
    print(f"written to {out}")
    return 0


def run_materialise(args: argparse.Namespace) -> int:
    """Make the suite and say what it holds."""
    from rotajax.tasks.folder import require_free
    from rotajax.tasks.manifest import icons_folder, materialise, read_manifest

    require_free(args.out)
    manifest = read_manifest(args.manifest)
    icons = icons_folder(args.icons, manifest.get("source"))
    print(_describe(materialise(manifest, icons, args.out, split=args.split, workers=args.workers)))
    print(f"written to {args.out}")
    return 0


def run_manifest(args: argparse.Namespace) -> int:
    """Write both manifests and say what they hold."""
    from rotajax.checks import require, require_folder
    from rotajax.files import write_atomically
    from rotajax.tasks.folder import document_text, read_document
    from rotajax.tasks.manifest import make_manifest, take_split

    out = require_folder(args.out, "suite manifest: --out")
    given = [args.repository is not None, args.commit is not None]
    require(all(given) or not any(given), "suite manifest", "--repository and --commit together", "one of them")
    source = {"repository": args.repository, "commit": args.commit} if all(given) else None
    manifest = make_manifest(read_document(args.suite), args.split_seed, source)
    for document in (manifest, take_split(manifest, "test")):
        write_atomically(out / f"{document['id']}.json", document_text(document))
        print(f"{_describe(document)}; written to {out / document['id']}.json")
    return 0


def run_search(args: argparse.Namespace) -> int:
    """Search the suite and say what was found."""
    from rotajax.cli.setup import prepare_jax

    prepare_jax(devices=args.devices)
    join_processes(args)
    from rotajax.tasks.folder import read_document

    read_document(args.suite)
    _search(args.suite, wide=not args.reference_only)
    return 0


def _search(path: Path, *, wide: bool) -> None:
    from rotajax.collection import search_suite, summarise
    from rotajax.processes import is_leader

    document = search_suite(path, wide=wide)
    if is_leader():
        print(_describe(document))
        print("\n".join(summarise(document)))


def run_verify(args: argparse.Namespace) -> int:
    """Check the suite and say what it holds."""
    from rotajax.tasks.folder import read_document, read_mask
    from rotajax.tasks.suite import suite_folder

    folder = suite_folder(args.suite)
    document = read_document(folder)
    for row in document["tasks"]:
        read_mask(folder, row)
    print(_describe(document))
    print("every hash holds")
    return 0


def run_show(args: argparse.Namespace) -> int:
    """Write the picture and describe the task."""
    from rotajax.cli.setup import prepare_jax

    prepare_jax()
    from rotajax.tasks.show import show_task
    from rotajax.tasks.suite import load_suite

    print(show_task(load_suite(args.suite), args.task, args.out))
    print(f"written to {args.out}")
    return 0


def _describe(document: dict) -> str:
    authors = {row["icon"]["author"] for row in document["tasks"]}
    return (
        f"suite {document['id']} version {document['version']}: {len(document['tasks'])} tasks, icons by "
        f"{len(authors)} authors, sha256 {document['sha256']}"
    )
