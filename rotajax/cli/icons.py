"""`rotajax icons scan`: which icons of a folder can become solids, and why the others cannot."""

import argparse
import collections
from pathlib import Path

_EPILOG = """\
example:
  rotajax icons scan game-icons --json icons.json

Every .svg file ends as accepted, or as rejected with a reason, with its author, licence, sha256 and measures. Findings
are kept by content: a second scan, or one that was interrupted, draws only what is new.
"""


def add(commands: argparse._SubParsersAction, style: type) -> None:
    """Describe the command."""
    text = "Look at folders of icons."
    group = commands.add_parser("icons", help=text, description=text).add_subparsers(metavar="COMMAND", required=True)
    text = "Measure every icon of a folder against the paper's filters."
    parser = group.add_parser("scan", help=text, description=text, epilog=_EPILOG, formatter_class=style)
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder with .svg files, and license.txt if there is")
    parser.add_argument("--json", type=Path, required=True, metavar="OUT", help="file to write the records to")
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: all cores)")
    parser.set_defaults(run=run_scan)


def run_scan(args: argparse.Namespace) -> int:
    """Scan, write and print the counts."""
    from rotajax.icons.scan import require_output, scan, write_scan

    require_output(args.json)
    records = scan(args.folder, workers=args.workers)
    write_scan(records, args.json)
    accepted = [record for record in records if record.status == "accepted"]
    licences = collections.Counter(record.licence for record in accepted).most_common()
    authors = len({record.author for record in accepted})
    print(f"{len(records)} files, {len(accepted)} accepted, by {authors} authors")
    print("accepted: " + (", ".join(f"{count} {licence}" for licence, count in licences) or "none"))
    reasons = collections.Counter(record.reason for record in records if record.reason).most_common()
    print("rejected: " + (", ".join(f"{count} {reason}" for reason, count in reasons) or "none"))
    print(f"written to {args.json}")
    return 0
