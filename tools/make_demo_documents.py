"""Writes the binary documents of the demo: an org chart in DOCX and a supply agreement in PDF.

Run `python tools/make_demo_documents.py [FOLDER]`; FOLDER defaults to demo/documents. The same bytes come out
each time, so that a rebuilt demo changes no document.
"""

from __future__ import annotations

import datetime as dt
import io
import sys
import zipfile
from pathlib import Path

CHART_ROWS = (
    ("Name", "Title", "Reports to"),
    ("Pavel Novotny", "Controls Engineer", "Mara Ellison"),
    ("Jonas Achterberg", "Field Engineer", "Mara Ellison"),
    ("Edda Ruiz", "Survey Planner", "Mara Ellison"),
)
CHART_LIST = (
    "The Survey Unit is part of Tidewell Robotics.",
    "The Harbour Unit is part of Tidewell Robotics.",
)
AGREEMENT = (
    "Castra Drives supplied Tidewell Robotics from 1 March 2021 to 31 December 2023.",
    "Norrby Motors has supplied Tidewell Robotics since 1 January 2024.",
    "Castra Drives may be asked to quote again in a later year.",
)
FIXED = dt.datetime(2023, 3, 6, 9, 0, 0, tzinfo=dt.UTC)


def org_chart() -> bytes:
    """The DOCX: a heading, a date, a table and a list."""
    import docx

    document = docx.Document()
    document.core_properties.created = document.core_properties.modified = FIXED
    document.core_properties.author = "Tidewell Robotics"
    document.add_heading("Organisation chart", level=1)
    document.add_paragraph("Date: 6 March 2023")
    document.add_heading("People", level=2)
    table = document.add_table(rows=0, cols=len(CHART_ROWS[0]))
    for row in CHART_ROWS:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    document.add_heading("Units", level=2)
    for line in CHART_LIST:
        document.add_paragraph(line, style="List Bullet")
    buffer = io.BytesIO()
    document.save(buffer)
    return _without_clock(buffer.getvalue())


def _without_clock(archive: bytes) -> bytes:
    """The same archive with one fixed time on every member: zip would write the present one."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            info = zipfile.ZipInfo(name, FIXED.timetuple()[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(info, old.read(name))
    return out.getvalue()


def supply_agreement() -> bytes:
    """The PDF: a title, a date and three sentences."""
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Spacer

    styles = getSampleStyleSheet()
    story: list[Flowable] = [
        Paragraph("Supply agreement", styles["Title"]),
        Paragraph("Date: 8 January 2024", styles["Normal"]),
        Spacer(1, 12),
    ]
    for sentence in AGREEMENT:
        story += [Paragraph(sentence, styles["Normal"]), Spacer(1, 8)]
    buffer = io.BytesIO()
    SimpleDocTemplate(buffer, pagesize=A4, title="Supply agreement", invariant=1).build(story)
    return buffer.getvalue()


def write(folder: Path) -> None:
    """Write both documents below `folder`, into the waves in which they arrive."""
    for name, content in (
        ("wave-1/org-chart.docx", org_chart()),
        ("wave-2/supply-agreement.pdf", supply_agreement()),
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        print(f"{path}: {len(content)} bytes")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "demo" / "documents")
