"""``make bench-claims``: what the built-in extractor takes from ten kinds of business text, keyless.

Our own sentences (bench/claims/open.yaml, held.yaml), each read through the real parser, chunker and extractor. Rules
are grown on the open part; the held part, written before them, is shown as totals alone unless ``--show-held`` is
given. With ``--data FOLDER`` the documents of Re-DocRED in that folder are read instead.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.claims import redocred
from bench.claims.data import HERE, Part, load
from bench.claims.reading import read
from bench.claims.score import Count, Score, lines, score, summary
from bench.database import ROOT, commit
from substrate.extraction.claims import Extractor
from substrate.pipeline import open_extractor
from substrate.settings import load_settings

FIRST = """\
claims: open_p=0.891 open_r=0.215 held_p=0.842 held_r=0.217 modal_facts=5 twins_found=0.77
redocred: p=0.471 same_sentence_r=0.055"""
LIMITS = """\
What it does not show: the sentences are by one hand, and shorter than documents are; a text that contradicts itself or
goes on for pages is not among them. Ends are compared by their words and wordings through a table of the scorer
(bench/claims/relations.yaml), which may let a slip pass or refuse a right one. "Times kept" counts, of what was found,
the starts and ends that the annotation states."""
RESULTS = ROOT / "bench" / "results"
console = Console()


def texts(part: Part) -> list[tuple[str, str, dt.date | None]]:
    twins: list[tuple[str, str, dt.date | None]] = [
        (f"{item.key}/{form}", item.text, item.date)
        for pair in part.pairs
        for form, item in (("modal", pair.modal), ("plain", pair.plain))
    ]
    return [*((item.key, item.text, item.date) for item in part.items), *twins]


def rows(opened: Score, held: Score) -> list[tuple[str, Count]]:
    return [*opened.kinds.items(), *opened.languages.items(), ("open", opened.total), ("held", held.total)]


def show(title: str, found: Score) -> None:
    """Every claim that is wrong, gold that is missed, and what a sentence without a statement gave."""
    for heading, entries in (
        ("wrong", found.total.wrong),
        ("missed", found.total.missed),
        ("facts of no statement", found.modal),
        ("twins missed", found.twins_missed),
    ):
        console.print(f"{title}, {heading}:", style="bold")
        for entry in entries:
            console.print(f"  {entry}", markup=False, highlight=False, soft_wrap=True)


def table(opened: Score, held: Score) -> Table:
    shown = Table("kind", "items", "claims", "precision", "wanted", "recall", "times kept")
    for line in lines(rows(opened, held)):
        shown.add_row(*(cell.strip() for cell in line.strip("|").split("|")))
    return shown


def markdown(opened: Score, held: Score, extractor: Extractor) -> str:
    digest = hashlib.sha256(b"".join((HERE / f"{name}.yaml").read_bytes() for name in ("open", "held"))).hexdigest()
    parts = [
        "# bench-claims\n",
        f"- Commit: {commit()}; extractor {extractor.name}@{extractor.version}",
        f"- Corpus: bench/claims/open.yaml and held.yaml, sha256 {digest[:16]} of both; the held part was written",
        "  and committed before the rules were grown, by somebody who had not seen them",
        "- Seed: none, nothing is drawn at random. Repetitions: 1 (no model is asked; the same text reads the same)\n",
        "| kind | items | claims | precision | wanted | recall | times kept |",
        "|---|---|---|---|---|---|---|",
        *lines(rows(opened, held)),
        "",
        f"Claims wrong in wording alone, both ends right: open {opened.total.misworded}, held {held.total.misworded}.",
        f"Of the plain twins of sentences that state nothing, found: open {opened.twins_found} of {opened.pairs}, held",
        f"{held.twins_found} of {held.pairs}; facts of the others: open {len(opened.modal)}, held {len(held.modal)}.\n",
        "The first try, with the rules of commit 2c055c5, before one was grown on the open part:\n",
        f"```\n{FIRST}\n```\n",
        f"{LIMITS}\n",
        f"```\n{summary(opened, held)}\n```",
    ]
    return "\n".join(parts) + "\n"


def own(extractor: Extractor, *, show_open: bool, show_held: bool) -> None:
    parts = {name: load(name) for name in ("open", "held")}
    opened, held = (score(part, read(extractor, texts(part))) for part in parts.values())
    for title, found, wanted in (("open", opened, show_open), ("held", held, show_held)):
        if wanted:
            show(title, found)
    console.print(table(opened, held))
    (RESULTS / "claims.md").write_text(markdown(opened, held, extractor), encoding="utf-8")
    print(summary(opened, held))


def prose(extractor: Extractor, folder: Path) -> None:
    corpus, truth = redocred.load(folder)
    said = read(extractor, [(document["filename"], document["text"], None) for document in corpus])
    linked = redocred.link(truth, said)
    digest = hashlib.sha256(b"".join((folder / name).read_bytes() for name in redocred.FILES)).hexdigest()
    counts = (
        f"{linked.claims} claims; {linked.known} with an annotated thing at both ends, {linked.right} of these an"
        f" annotated pair; {linked.found} of {linked.facts} annotated facts whose ends share a sentence are linked."
    )
    print(counts)
    parts = [
        "# bench-claims on Re-DocRED\n",
        f"- Commit: {commit()}; extractor {extractor.name}@{extractor.version}",
        f"- Corpus: {len(corpus)} documents of the named benchmark, sha256 {digest[:16]}; not in this repository",
        "- Seed: none. Repetitions: 1 (no model is asked; the same text reads the same)\n",
        f"{counts}\n",
        "Only ends are compared, not the relation's wording. The annotation is not complete, so that p is a lower",
        "bound, and encyclopaedic prose is what a model is for: no target.\n",
        f"```\n{linked.summary()}\n```",
    ]
    (RESULTS / "redocred.md").write_text("\n".join(parts) + "\n", encoding="utf-8")
    print(linked.summary())


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench.claims", description="What the built-in extractor takes from text.")
    parser.add_argument("--data", type=Path, help="a folder with corpus.json and truth.json of Re-DocRED")
    parser.add_argument("--show", action="store_true", help="print what is wrong or missed in the open part")
    parser.add_argument("--show-held", action="store_true", help="the same for the held part; not for who writes rules")
    arguments = parser.parse_args(given)
    if arguments.data and not all((arguments.data / name).exists() for name in redocred.FILES):
        print(f"bench-claims: no {' and '.join(redocred.FILES)} in {arguments.data}", file=sys.stderr)
        return 2
    extractor = open_extractor(load_settings().model_copy(update={"extractor": "builtin"}))
    if arguments.data:
        prose(extractor, arguments.data)
    else:
        own(extractor, show_open=arguments.show, show_held=arguments.show_held)
    return 0


if __name__ == "__main__":
    sys.exit(main())
