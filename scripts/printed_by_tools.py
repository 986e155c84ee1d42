"""PDF files made by other programs, with every sentence known.

Run it with an interpreter that has the programs, in an empty folder. It writes the files, and
``made.json`` with their sentences and the missing programs.
"""

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from pathlib import Path

from printed_documents import SentenceMaker

# Debian: fonts-ipafont-mincho, fonts-ipafont-gothic.
_FONTS = (
    "/usr/share/fonts/opentype/ipafont-mincho/ipam.ttf",
    "/usr/share/fonts/opentype/ipafont-gothic/ipag.ttf",
)
_HEADS = ("区分", "金額", "期限")


@dataclass
class PrintedSheet:
    """A document to print."""

    text: SentenceMaker
    rng: random.Random
    path: Path
    font: Path

    def paragraphs(self, count: int, *, english: bool = False) -> list[str]:
        """Some paragraphs of two to five sentences."""
        return [self.text.paragraph(self.rng.randint(2, 5), english=english) for _ in range(count)]

    def table(self) -> list[tuple[str, ...]]:
        """Rows of a table, to be read with tabs between cells."""
        rows: list[tuple[str, ...]] = [_HEADS]
        rows += [(f"第{n}種", f"{n * 1200:,}円", f"{n}月末日") for n in (2, 3, 4)]
        self.text.made += ["\t".join(row) for row in rows]
        return rows


def reportlab_plain(sheet: PrintedSheet, *, cid: bool = False, english: bool = False) -> None:
    """Justified paragraphs with a running head and page numbers."""
    from reportlab.lib.enums import TA_JUSTIFY
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfbase.pdfmetrics import registerFont
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.platypus import Paragraph, SimpleDocTemplate

    name = "Times-Roman" if english else "HeiseiKakuGo-W5" if cid else "Printed"
    if not english:
        registerFont(UnicodeCIDFont(name) if cid else TTFont(name, str(sheet.font)))
    style = ParagraphStyle(
        "text",
        fontName=name,
        fontSize=10.5,
        leading=17,
        wordWrap="LTR" if english else "CJK",
        alignment=TA_JUSTIFY,
        firstLineIndent=0 if english else 10.5,
        spaceAfter=6 if english else 0,
    )

    def decorate(canvas: object, document: object) -> None:
        canvas.setFont(name, 9)  # type: ignore[attr-defined]
        number = document.page  # type: ignore[attr-defined]
        canvas.drawCentredString(297, 30, f"- {number} -")  # type: ignore[attr-defined]
        canvas.drawString(60, 800, "Draft" if english else "管理規程")  # type: ignore[attr-defined]

    flow = [Paragraph(one, style) for one in sheet.paragraphs(12, english=english)]
    SimpleDocTemplate(str(sheet.path)).build(flow, onFirstPage=decorate, onLaterPages=decorate)


def reportlab_cid(sheet: PrintedSheet) -> None:
    """The same in a font that is not embedded."""
    reportlab_plain(sheet, cid=True)


def reportlab_english(sheet: PrintedSheet) -> None:
    """The same in English."""
    reportlab_plain(sheet, english=True)


def reportlab_columns(sheet: PrintedSheet) -> None:
    """Two columns."""
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.pdfbase.pdfmetrics import registerFont
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph

    registerFont(TTFont("Printed", str(sheet.font)))
    style = ParagraphStyle("text", fontName="Printed", fontSize=9.5, leading=14, wordWrap="CJK")
    document = BaseDocTemplate(str(sheet.path))
    frames = [Frame(50, 60, 230, 720), Frame(310, 60, 230, 720)]
    document.addPageTemplates(PageTemplate(frames=frames))
    document.build([Paragraph(one, style) for one in sheet.paragraphs(16)])


def fpdf_table(sheet: PrintedSheet) -> None:
    """Justified paragraphs and a table."""
    from fpdf import FPDF

    pages = FPDF()
    for style in ("", "B"):
        pages.add_font("Printed", style, str(sheet.font))
    pages.set_font("Printed", size=11)
    pages.add_page()
    for at, one in enumerate(sheet.paragraphs(8)):
        align = "J" if at % 2 else "L"
        pages.multi_cell(0, 7, one, align=align, new_x="LMARGIN", new_y="NEXT")
    with pages.table() as table:
        for cells in sheet.table():
            row = table.row()
            for cell in cells:
                row.cell(cell)
    pages.output(str(sheet.path))


def fpdf_spread(sheet: PrintedSheet) -> None:
    """Letters that are spread."""
    from fpdf import FPDF

    pages = FPDF()
    pages.add_font("Printed", fname=str(sheet.font))
    pages.set_font("Printed", size=11)
    pages.set_char_spacing(6)
    pages.add_page()
    for one in sheet.paragraphs(4):
        pages.multi_cell(0, 9, one, new_x="LMARGIN", new_y="NEXT")
    pages.output(str(sheet.path))


def fpdf_english(sheet: PrintedSheet) -> None:
    """English, justified, in a font that is not embedded."""
    from fpdf import FPDF

    pages = FPDF()
    pages.set_font("Times", size=11)
    pages.add_page()
    for one in sheet.paragraphs(10, english=True):
        pages.multi_cell(0, 6, one, align="J", new_x="LMARGIN", new_y="NEXT")
        pages.ln(3)
    pages.output(str(sheet.path))


def _page(
    paragraphs: list[str], family: str, css: str = "", rows: list[tuple[str, ...]] | None = None
) -> str:
    """A web page to be printed."""
    text = "".join(f"<p>{one}</p>" for one in paragraphs)
    table = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows or ()
    )
    return (
        "<html lang=ja><head><meta charset=utf-8><style>@page{size:A4;margin:25mm;"
        "@bottom-center{content:counter(page) '/' counter(pages)}@top-right{content:'意見書'}}"
        f"body{{font-family:'{family}';font-size:10.5pt;line-height:1.7}}"
        "p{margin:0;text-align:justify;text-indent:1em}td{border:1px solid;padding:3px}"
        f"table{{border-collapse:collapse}}{css}</style></head><body>{text}"
        f"{f'<table>{table}</table>' if table else ''}</body></html>"
    )


_FAMILY = "IPAMincho"


def _weasyprint(sheet: PrintedSheet, page: str) -> None:
    from weasyprint import HTML

    HTML(string=page).write_pdf(str(sheet.path))


def weasyprint_table(sheet: PrintedSheet) -> None:
    """Justified paragraphs between a head and page numbers, and a table."""
    paragraphs = sheet.paragraphs(14)
    _weasyprint(sheet, _page(paragraphs, _FAMILY, rows=sheet.table()))


def weasyprint_columns(sheet: PrintedSheet) -> None:
    """Two columns."""
    css = "body{column-count:2;column-gap:8mm;font-size:9.5pt}"
    _weasyprint(sheet, _page(sheet.paragraphs(14), _FAMILY, css))


def weasyprint_wide(sheet: PrintedSheet) -> None:
    """Widely spaced lines, and slightly spread letters."""
    css = "body{line-height:2.6;letter-spacing:.1em}"
    _weasyprint(sheet, _page(sheet.paragraphs(10), _FAMILY, css))


def weasyprint_notes(sheet: PrintedSheet) -> None:
    """Notes at the foot of pages."""
    paragraphs = sheet.paragraphs(12)
    note = "<span class=fn>本項は原則を定める。</span>"
    paragraphs[2] += note
    paragraphs[7] += note
    _weasyprint(sheet, _page(paragraphs, _FAMILY, ".fn{float:footnote;font-size:8pt}"))


def weasyprint_english(sheet: PrintedSheet) -> None:
    """English, justified and hyphenated."""
    paragraphs = [f"<span lang=en>{one}</span>" for one in sheet.paragraphs(12, english=True)]
    css = "p{hyphens:auto;text-indent:0;margin-bottom:8pt}body{width:90mm}"
    _weasyprint(sheet, _page(paragraphs, "DejaVu Serif", css))


def _typst(sheet: PrintedSheet, before: str, paragraphs: list[str], after: str = "") -> None:
    import typst

    source = sheet.path.with_suffix(".typ")
    text = '#set text(font: ("Libertinus Serif", "IPAMincho"), size: 10.5pt, lang: "ja")\n'
    source.write_text(f"{before}\n{text}\n" + "\n\n".join(paragraphs) + f"\n\n{after}\n")
    typst.compile(str(source), output=str(sheet.path))
    source.unlink()


def typst_notes(sheet: PrintedSheet) -> None:
    """A head, page numbers, notes and a table."""
    paragraphs = sheet.paragraphs(12)
    paragraphs[3] += "#footnote[本項は原則を定める。]"
    cells = ", ".join(f"[{cell}]" for row in sheet.table() for cell in row)
    before = '#set page(numbering: "1 / 1", header: [意見書])\n#set par(justify: true)'
    _typst(sheet, before, paragraphs, f"#table(columns: 3, {cells})")


def typst_columns(sheet: PrintedSheet) -> None:
    """Two columns."""
    _typst(sheet, '#set page(columns: 2, numbering: "— 1 —")', sheet.paragraphs(14))


def typst_english(sheet: PrintedSheet) -> None:
    """English, justified and hyphenated."""
    before = '#set page(width: 120mm, numbering: "1")\n#set par(justify: true, spacing: 2em)'
    paragraphs = sheet.paragraphs(12, english=True)
    _typst(sheet, before, ['#set text(lang: "en", hyphenate: true)', *paragraphs])


def matplotlib_lines(sheet: PrintedSheet, *, kind: int = 3) -> None:
    """Lines that were broken by hand, as in a report's figure."""
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties

    mpl.rcParams["pdf.fonttype"] = kind
    font = FontProperties(fname=sheet.font)
    figure = Figure(figsize=(8.3, 11.7))
    at = 0.9
    for paragraph in sheet.paragraphs(4):
        for start in range(0, len(paragraph), 40):
            line = paragraph[start : start + 40]
            figure.text(0.1, at, line, fontproperties=font, size=11)
            at -= 0.024
        at -= 0.02
    figure.savefig(sheet.path)


def matplotlib_truetype(sheet: PrintedSheet) -> None:
    """The same in another kind of font."""
    matplotlib_lines(sheet, kind=42)


def xhtml2pdf_plain(sheet: PrintedSheet) -> None:
    """A web page in a font that is not embedded."""
    from xhtml2pdf import pisa

    css = "p{text-align:left;text-indent:0}"
    with sheet.path.open("wb") as file:
        pisa.CreatePDF(_page(sheet.paragraphs(8), "HeiseiMin-W3", css), dest=file)


def libreoffice_text(
    sheet: PrintedSheet, *, vertical: bool = False, has_table: bool = False
) -> None:
    """A text of Writer with page numbers; it loses commas that it lets hang over the edge."""
    names = "urn:oasis:names:tc:opendocument:xmlns:"
    kinds = {"office": "office", "style": "style", "text": "text", "table": "table"}
    kinds["fo"] = "xsl-fo-compatible"
    spaces = " ".join(f'xmlns:{short}="{names}{long}:1.0"' for short, long in kinds.items())
    mode = "tb-rl" if vertical else "lr-tb"
    text = "".join(f'<text:p text:style-name="P">{one}</text:p>' for one in sheet.paragraphs(12))
    for row in sheet.table() if has_table else ():
        cells = "".join(
            f'<table:table-cell table:style-name="C"><text:p>{cell}</text:p></table:table-cell>'
            for cell in row
        )
        text += f"<table:table-row>{cells}</table:table-row>"
    if has_table:
        before, first, after = text.partition("<table:table-row>")
        columns = f'<table:table-column table:number-columns-repeated="{len(_HEADS)}"/>'
        text = f"{before}<table:table>{columns}{first}{after}</table:table>"
    source = sheet.path.with_suffix(".fodt")
    source.write_text(
        f'<?xml version="1.0" encoding="UTF-8"?><office:document {spaces} office:version="1.3"'
        ' office:mimetype="application/vnd.oasis.opendocument.text">'
        '<office:automatic-styles><style:style style:name="P" style:family="paragraph">'
        '<style:paragraph-properties fo:text-align="justify" fo:text-indent="4mm"'
        ' style:punctuation-wrap="simple"/>'
        f'<style:text-properties style:font-name-asian="{_FAMILY}" fo:font-size="11pt"'
        ' style:font-size-asian="11pt"/></style:style>'
        '<style:style style:name="C" style:family="table-cell"><style:table-cell-properties'
        ' fo:border="0.5pt solid #000000" fo:padding="1mm"/></style:style>'
        '<style:page-layout style:name="L">'
        '<style:page-layout-properties fo:page-width="210mm" fo:page-height="297mm"'
        f' fo:margin="25mm" style:writing-mode="{mode}"/><style:footer-style/>'
        "</style:page-layout></office:automatic-styles><office:master-styles>"
        '<style:master-page style:name="Standard" style:page-layout-name="L"><style:footer>'
        "<text:p>- <text:page-number/> -</text:p></style:footer></style:master-page>"
        f"</office:master-styles><office:body><office:text>{text}</office:text></office:body>"
        "</office:document>"
    )
    profile = (sheet.path.parent / "profile").absolute().as_uri()
    command = ["soffice", "--headless", f"-env:UserInstallation={profile}", "--convert-to"]
    command += ["pdf:writer_pdf_Export", "--outdir", str(sheet.path.parent), str(source)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    source.unlink()


def libreoffice_table(sheet: PrintedSheet) -> None:
    """The same with a table."""
    libreoffice_text(sheet, has_table=True)


def libreoffice_vertical(sheet: PrintedSheet) -> None:
    """The same in vertical writing."""
    libreoffice_text(sheet, vertical=True)


MAKERS: dict[str, tuple[Callable[[PrintedSheet], None], ...]] = {
    "reportlab": (reportlab_plain, reportlab_cid, reportlab_english, reportlab_columns),
    "fpdf": (fpdf_table, fpdf_spread, fpdf_english),
    "weasyprint": (
        weasyprint_table,
        weasyprint_columns,
        weasyprint_wide,
        weasyprint_notes,
        weasyprint_english,
    ),
    "typst": (typst_notes, typst_columns, typst_english),
    "matplotlib": (matplotlib_lines, matplotlib_truetype),
    "xhtml2pdf": (xhtml2pdf_plain,),
    "soffice": (libreoffice_table, libreoffice_text, libreoffice_vertical),
}
"""Functions by program; ``soffice`` is LibreOffice, the others are packages."""


def _is_here(name: str) -> bool:
    return bool(shutil.which(name) if name == "soffice" else find_spec(name))


def main() -> int:
    """Write the files: arguments are the folder, how many, and a seed."""
    folder, count, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    font = next((path for path in map(Path, _FONTS) if path.is_file()), None)
    missing = [name for name in MAKERS if not _is_here(name)]
    if font is None:
        missing = list(MAKERS)
    makers = [make for name, some in MAKERS.items() if name not in missing for make in some]
    made = []
    for number in range(count if makers else 0):
        make = makers[number % len(makers)]
        rng = random.Random(f"{seed} {number}")
        sheet = PrintedSheet(
            SentenceMaker(rng), rng, folder / f"{number:02}_{make.__name__}.pdf", font or Path()
        )
        make(sheet)
        made.append({"file": sheet.path.name, "sentences": sheet.text.made})
    shutil.rmtree(folder / "profile", ignore_errors=True)
    (folder / "made.json").write_text(json.dumps({"made": made, "missing": missing}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
