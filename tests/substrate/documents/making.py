"""Real files of every format, made by the programs' own libraries."""

from __future__ import annotations

import io
import zipfile

PEOPLE = [("Name", "Role", "Salary"), ("Mia Chen", "Chief Executive", "12,000"), ("Bo Li", "Deputy", "9,000")]


def docx_file() -> bytes:
    import docx

    made = docx.Document()
    made.add_heading("Annual Report", 0)
    made.add_paragraph("Date: 5 July 2024")
    made.add_heading("Leadership", 1)
    made.add_paragraph("Mia Chen has led Acme since March 2021.")
    made.add_heading("Pay", 2)
    made.add_paragraph("The roles are:")
    made.add_paragraph("Chief", style="List Bullet")
    made.add_paragraph("Table 1 Salaries")
    grid = made.add_table(4, 3)
    for y, row in enumerate([*PEOPLE, ("", "Adviser", "1,000")]):
        for x, words in enumerate(row):
            grid.cell(y, x).text = words
    grid.cell(2, 0).merge(grid.cell(3, 0))
    return saved(made)


def pptx_file() -> bytes:
    import pptx
    from pptx.util import Inches

    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[1])
    slide.shapes.title.text = "Quarter results"
    slide.placeholders[1].text = "Revenue rose\nCosts fell"
    slide.notes_slide.notes_text_frame.text = "Say that Li Wei left in 2023."
    slide = made.slides.add_slide(made.slide_layouts[6])
    grid = slide.shapes.add_table(3, 3, Inches(1), Inches(1), Inches(5), Inches(2)).table
    for y, row in enumerate(PEOPLE):
        for x, words in enumerate(row):
            grid.cell(y, x).text = words
    return saved(made)


def xlsx_file() -> bytes:
    import datetime

    import openpyxl

    made = openpyxl.Workbook()
    sheet = made.active
    sheet.title = "Pay"
    sheet.append(["Salaries of 2024"])
    sheet.append(["Name", "Since", "Salary", "Share"])
    sheet.append(["Mia Chen", datetime.date(2021, 3, 1), 12000, 0.125])
    moment = datetime.datetime(2022, 5, 4, 9, 30)  # noqa: DTZ001 - cells know no zone
    sheet.append(["Bo Li", moment, 9000.5, None])
    sheet["C3"].number_format = '"$"#,##0'
    sheet["D3"].number_format = "0.0%"
    sheet["B8"], sheet["C8"] = "Total", 21000.5
    made.create_sheet("Empty")
    return saved(made)


def xls_file() -> bytes:
    import datetime

    import xlwt

    made = xlwt.Workbook()
    sheet = made.add_sheet("Pay")
    day = xlwt.easyxf(num_format_str="YYYY-MM-DD")
    for x, words in enumerate(("Name", "Since", "Salary")):
        sheet.write(0, x, words)
    sheet.write(1, 0, "王伟")
    sheet.write(1, 1, datetime.date(2021, 3, 1), day)
    sheet.write(1, 2, 12000)
    return saved(made)


def ods_file(rows_repeated: int = 2) -> bytes:
    space = "urn:oasis:names:tc:opendocument:xmlns:"
    content = f"""<?xml version="1.0" encoding="UTF-8"?>
    <o:document-content xmlns:o="{space}office:1.0" xmlns:table="{space}table:1.0" xmlns:text="{space}text:1.0">
    <o:body><o:spreadsheet><table:table table:name="Pay">
    <table:table-row><table:table-cell><text:p>Name</text:p></table:table-cell>
      <table:table-cell><text:p>Salary</text:p></table:table-cell></table:table-row>
    <table:table-row table:number-rows-repeated="{rows_repeated}">
      <table:table-cell><text:p>Mia <text:span>Chen</text:span></text:p></table:table-cell>
      <table:table-cell><text:p>12,000</text:p></table:table-cell>
      <table:table-cell table:number-columns-repeated="16000"/></table:table-row>
    </table:table></o:spreadsheet></o:body></o:document-content>"""
    return zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "META-INF/manifest.xml": "<manifest/>",
            "content.xml": content,
        }
    )


def pdf_file() -> bytes:
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table

    style = getSampleStyleSheet()
    held = io.BytesIO()
    long = "Mia Chen has led Acme since March 2021, when the board chose her over three other candidates. " * 3
    SimpleDocTemplate(held).build(
        [
            Paragraph("Annual Report", style["Title"]),
            Paragraph("Date: 5 July 2024", style["Normal"]),
            Spacer(1, 12),
            Paragraph("Leadership", style["Heading2"]),
            Paragraph(long, style["Normal"]),
            Spacer(1, 12),
            Table(PEOPLE),
            *[Paragraph("More was said about people. " * 150, style["Normal"])] * 2,
        ]
    )
    return held.getvalue()


def two_column_pdf() -> bytes:
    from reportlab.pdfgen import canvas

    held = io.BytesIO()
    page = canvas.Canvas(held, pagesize=(595, 842))
    page.setFont("Helvetica", 11)
    for line in range(12):
        page.drawString(72, 740 - line * 14, f"Left line {line} tells what the board of Acme")
        page.drawString(320, 740 - line * 14, f"Right line {line} talks about the money")
    for line, row in enumerate(PEOPLE):
        for x, words in zip((72, 200, 400), row, strict=True):
            page.drawString(x, 540 - 14 * line, words)
    page.save()
    return held.getvalue()


def scanned_pdf(pages: int = 1) -> bytes:
    from reportlab.pdfgen import canvas

    held = io.BytesIO()
    made = canvas.Canvas(held)
    for _ in range(pages):
        made.rect(10, 10, 100, 100, fill=1)
        made.showPage()
    made.save()
    return held.getvalue()


def encrypted_pdf() -> bytes:
    from pypdf import PdfWriter

    writer = PdfWriter(clone_from=io.BytesIO(pdf_file()))
    writer.encrypt("secret", algorithm="AES-256")
    held = io.BytesIO()
    writer.write(held)
    return held.getvalue()


def saved(made: object) -> bytes:
    held = io.BytesIO()
    made.save(held)  # type: ignore[attr-defined]
    return held.getvalue()


def zipped(parts: dict[str, str | bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return held.getvalue()


def rezipped(original: bytes, **changed: bytes) -> bytes:
    """The same archive with some parts replaced; a part is named by its last name without ``.xml``."""
    with zipfile.ZipFile(io.BytesIO(original)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for name in parts:
        parts[name] = changed.get(name.rsplit("/", 1)[-1].removesuffix(".xml"), parts[name])
    return zipped(parts)
