# SPDX-License-Identifier: Apache-2.0
"""The report's command line: `make` measures and writes the page, `choices` prints who is ahead
where, `pages` makes the measured parts of Markdown pages, `plot` draws one figure from stored
lines.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NoReturn, Sequence

from report import make, measured
from report.choice import choices, markdown
from report.errors import ReportError
from report.figures import FIGURES
from report.lines import load
from report.measure import measure, runs_of
from report.progress import Display

EXIT_ERROR = 2
EXIT_INTERRUPTED = 130


class _Parser(argparse.ArgumentParser):
    """Wrong arguments are one sentence, like every other error."""

    def error(self, message: str) -> NoReturn:
        raise ReportError(f"{message[:1].lower()}{message[1:]}; see `{self.prog} --help`.")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m report", description=__doc__)
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="make|choices|pages|plot", parser_class=_Parser
    )

    made = commands.add_parser(
        "make", help="measure this machine, or read stored lines, and write the page"
    )
    made.add_argument(
        "--tutti", type=Path, default=Path("build/tutti"),
        help="the command to measure with (build/tutti)",
    )
    made.add_argument(
        "--out", type=Path, default=Path("results"), help="the folder to write to (results)"
    )
    extent = made.add_mutually_exclusive_group()
    extent.add_argument(
        "--quick", action="store_true",
        help="about a minute of measuring: fewer sizes, fewer samples",
    )
    extent.add_argument(
        "--long", action="store_true",
        help="half an hour more: tables III and IV until convergence, five times, "
        "StreamCluster's native input, a graph of 10^8 edges, a program compiled by -O0, and "
        "barriers on all simulated machines",
    )
    made.add_argument(
        "--only", metavar="RUN[,RUN]",
        help="measure these runs again, by the names of their files in the folder, and read the "
        "others from there; `list` prints the names",
    )
    made.add_argument(
        "--from", dest="stored", type=Path, nargs="+", metavar="FILE.jsonl",
        help="stored lines; do not measure",
    )

    chosen = commands.add_parser(
        "choices",
        help="print the table of situations, losses first, as Markdown, from stored lines",
    )
    chosen.add_argument(
        "--from", dest="stored", type=Path, nargs="+", required=True, metavar="FILE.jsonl"
    )
    chosen.add_argument(
        "--losses", action="store_true", help="only the situations where tutti's default loses"
    )

    pages = commands.add_parser(
        "pages", help="make or compare the measured parts of the README and of docs/"
    )
    pages.add_argument("--from", dest="stored", type=Path, nargs="+", metavar="FILE.jsonl",
                       help=f"lines of a report: keep what the pages need in {measured.KEPT} first")
    do = pages.add_mutually_exclusive_group(required=True)
    do.add_argument(
        "--write", action="store_true", help="write the parts, and the picture of the README"
    )
    do.add_argument("--check", action="store_true", help="compare them; exit 1 if a page differs")

    plot = commands.add_parser("plot", help="draw one figure as a PNG from stored lines")
    plot.add_argument(
        "--from", dest="stored", type=Path, nargs="+", required=True, metavar="FILE.jsonl"
    )
    plot.add_argument(
        "--figure", required=True, choices=list(FIGURES), help="one of: " + ", ".join(FIGURES),
        metavar="NAME",
    )
    plot.add_argument("--out", type=Path, required=True, help="the PNG to write")
    return parser


def _report(options: argparse.Namespace) -> None:
    display = Display()
    if options.only and options.stored:
        raise ReportError("--only measures, and --from does not; give one of them.")
    if options.stored and (options.quick or options.long):
        raise ReportError("--quick and --long measure, and --from does not; leave them out.")
    if options.out.exists() and not options.out.is_dir():
        raise ReportError(f"{options.out}: --out takes a folder, and this is a file.")
    only = options.only.split(",") if options.only else None
    if only == ["list"]:
        for run in runs_of(options.tutti, options.quick, options.long):
            print(f"{run.name:24} {run.question}")
        return
    data = (
        load(options.stored)
        if options.stored
        else measure(options.tutti, options.out, options.quick, display, options.long, only)
    )
    index = make.write(data, options.out, display.tell)
    print(index)


def _choices(options: argparse.Namespace) -> None:
    print(markdown(choices(load(options.stored)), options.losses))


def _pages(options: argparse.Namespace) -> int:
    if options.stored:
        if options.check:
            raise ReportError(
                "--from belongs to --write; --check compares with the lines that are kept."
            )
        measured.keep(options.stored)
    data = load([measured.KEPT])
    if options.write:
        measured.write(measured.PAGES, data)
        make.write_figure(data, "overview", measured.PICTURE)
        return 0
    different = measured.differing(measured.PAGES, data)
    for page in different:
        print(
            f"{page}: its measured parts differ from {measured.KEPT}; `python -m report pages "
            "--write` makes them anew.",
            file=sys.stderr,
        )
    return 1 if different else 0


def _plot(options: argparse.Namespace) -> None:
    make.write_figure(load(options.stored), options.figure, options.out)
    print(options.out)


def main(arguments: Sequence[str] | None = None) -> int:
    try:
        options = _parser().parse_args(arguments)
        made = {"make": _report, "choices": _choices, "pages": _pages, "plot": _plot}[
            options.command
        ](options)
    except ReportError as error:
        print(f"report: {error}", file=sys.stderr)
        return EXIT_ERROR
    except KeyboardInterrupt:
        print(
            "report: interrupted; what was measured so far lies in the folder of results.",
            file=sys.stderr,
        )
        return EXIT_INTERRUPTED
    return made or 0
