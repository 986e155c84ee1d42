"""PDF read as text: share of right sentences and characters, pages a second.

The files are made here, so every sentence is known: text in one and two columns, vertical, turned,
with running heads, tables, notes, hyphens, and every predefined CMap. A sentence is right if
localrag's sentences contain it, letter by letter.

``--real`` takes PDF files printed from web pages: NAME.pdf beside NAME.html, or beside a folder
NAME of .html files. The paragraphs of the pages are the truth. Left out are titles, definitions,
cells, paragraphs with links, notes or pictures, sentences cut off in brackets, and search pages.
Quotation marks, dashes and ligatures count as equal; soft hyphens, item marks and note numbers are
ignored.

``--tools PYTHON`` takes 30 files made by reportlab, fpdf2, WeasyPrint, typst, matplotlib, xhtml2pdf
and LibreOffice, if the interpreter has them. Give them their own environment: pip install reportlab
fpdf2 weasyprint typst matplotlib xhtml2pdf. ``--all`` compares pypdf, pdfminer.six and PDFium's
text, if installed.
"""

import json
import re
import subprocess
import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import SequenceMatcher
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from time import process_time

import lxml.html
import psutil
from bench.options import parser
from bench.rates import rate
from printed_documents import MadeDocument, made

from localrag.corpus.readers.flowing import is_wide
from localrag.corpus.readers.pdf import read_pdf
from localrag.corpus.readers.types import Limits
from localrag.corpus.types import Document
from localrag.errors import InputError
from localrag_indexes.analysis.analyzer import split_sentences


def with_localrag(data: bytes) -> str:
    """The text as localrag reads it."""
    for outcome in read_pdf("a.pdf", data, Limits()):
        if isinstance(outcome, Document):
            return outcome.text
    return ""


def with_pypdf(data: bytes) -> str:
    """The text as pypdf gives it; localrag read PDF so until November 2026."""
    from pypdf import PdfReader

    return "\n".join(page.extract_text() for page in PdfReader(BytesIO(data)).pages)


def with_pdfium(data: bytes) -> str:
    """The text as PDFium gives it."""
    import pypdfium2

    return "\n".join(page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(data))


def with_pdfminer(data: bytes) -> str:
    """The text as pdfminer.six lays it out."""
    from pdfminer.high_level import extract_text
    from pdfminer.layout import LAParams

    return str(extract_text(BytesIO(data), laparams=LAParams(detect_vertical=True)))


@dataclass
class _Figures:
    right: int = 0
    whole_files: int = 0
    sentences: int = 0
    characters: float = 0.0
    order: float = 0.0
    seconds: float = 0.0


_MOST_OF_A_FILE, _SHORTEST = 200, 20
_SIGNS = str.maketrans({**dict.fromkeys("“”„‟″", '"'), **dict.fromkeys("‘’‚′`´", "'")})
_SHOWN_OTHERWISE = (
    ".//sup|.//img|.//a[@href]|ancestor::dd|ancestor::td|ancestor::noscript"
    "|self::*[strong and normalize-space(strong) = normalize-space(.)]"
)
_NOT_PRINTED = ("search.html", "genindex.html")
# The web page draws the marks of its items and notes, so its text has none.
_ITEM = re.compile(
    r"^(?:(?:[•∙·◦▪–*-]|\(?[0-9a-z]{1,2}[.)])(?: +|(?=[ぁ-ヿ一-鿿]))|[0-9]{1,2} +(?=[A-Z]))"
)


def as_set(line: str) -> str:
    """A line with what typesetting changes made alike: ligatures, quotes, dashes, blanks."""
    plain = unicodedata.normalize("NFKC", line.replace("\u00ad", "")).translate(_SIGNS)
    plain = re.sub(r"[\u2010-\u2015]|--+", "-", plain)
    words = plain.split()
    out = words[0] if words else ""
    for word in words[1:]:
        out += word if is_wide(out[-1]) or is_wide(word[0]) else f" {word}"
    return out


def _is_whole(sentence: str) -> bool:
    """Whether no block of the page cuts a sentence off within brackets."""
    return not sentence.startswith(")") and sentence.count("(") <= sentence.count(")")


def real(folder: Path) -> Iterator[MadeDocument]:
    """PDF files of a folder, with sentences of the web pages that were made of the same source."""
    import pypdfium2

    for path in sorted(folder.glob("*.pdf")):
        beside = path.with_suffix("")
        pages = sorted(beside.glob("*.html")) if beside.is_dir() else [path.with_suffix(".html")]
        pages = [page for page in pages if page.name not in _NOT_PRINTED]
        found: dict[str, None] = {}
        for page in pages:
            for paragraph in lxml.html.parse(page).iter("p"):
                if paragraph.xpath(_SHOWN_OTHERWISE):
                    continue
                text = as_set(paragraph.text_content())
                found |= dict.fromkeys(text[a:b].strip() for a, b in split_sentences(text))
        long = [
            one for one in found if len(one) >= _SHORTEST and one[-1] in "。.!?" and _is_whole(one)
        ]
        step = max(1, len(long) // _MOST_OF_A_FILE)
        data = path.read_bytes()
        with pypdfium2.PdfDocument(data) as document:
            yield MadeDocument(path.stem, data, long[::step], len(document))


def by_tools(python: str, count: int, seed: int) -> Iterator[MadeDocument]:
    """PDF files made by other programs; missing programs are named."""
    import pypdfium2

    script = Path(__file__).parents[1] / "printed_by_tools.py"
    with tempfile.TemporaryDirectory() as place:
        command = [python, str(script), place, str(count), str(seed)]
        subprocess.run(command, check=True, capture_output=True)
        report = json.loads((Path(place) / "made.json").read_text())
        if report["missing"]:
            print(f"missing: {', '.join(report['missing'])}")
        for one in report["made"]:
            data = (Path(place) / one["file"]).read_bytes()
            with pypdfium2.PdfDocument(data) as document:
                yield MadeDocument(Path(one["file"]).stem, data, one["sentences"], len(document))


def _processor_seconds() -> float:
    """Of this process, and of localrag's PDF process."""
    read = 0.0
    for child in psutil.Process().children():
        with suppress(psutil.Error):
            times = child.cpu_times()
            read += times.user + times.system
    return process_time() + read


def _letters(text: str) -> str:
    return "".join(text.split())


def judge(
    read: Callable[[bytes], str],
    files: Sequence[MadeDocument],
    *,
    show: bool,
    is_real: bool = False,
) -> _Figures:
    """How much of some files is read right."""
    figures = _Figures()
    for file in files:
        before = _processor_seconds()
        try:
            text = read(file.data)
        except InputError as error:
            text = ""
            if show:
                print(f"  {file.kind}: {error}")
        figures.seconds += max(0.0, _processor_seconds() - before)
        if is_real:
            text = "\n".join(map(as_set, text.split("\n")))
        found = [text[start:end].strip() for start, end in split_sentences(text)]
        # A mark tells where a sentence begins: it is taken off afterwards.
        known = {_ITEM.sub("", one) for one in found} if is_real else set(found)
        missing = [sentence for sentence in file.sentences if sentence not in known]
        figures.right += len(file.sentences) - len(missing)
        figures.whole_files += not missing
        figures.sentences += len(file.sentences)
        whole, wanted = _letters(text), [_letters(sentence) for sentence in file.sentences]
        expected = sum(map(len, wanted))
        blocks = (
            SequenceMatcher(None, whole, "".join(wanted), autojunk=False).get_matching_blocks()
            if len(whole) < 9_000
            else []
        )
        figures.characters += sum(block.size for block in blocks) / max(expected, len(whole), 1)
        places = [whole.find(sentence) for sentence in wanted]
        pairs = list(pairwise(places))
        figures.order += sum(0 <= a < b for a, b in pairs) / max(len(pairs), 1)
        if show and missing:
            print(f"  {file.kind}: {len(missing)} of {len(file.sentences)} sentences missing")
            for sentence in missing[:3] if not is_real else missing:
                print(f"    {sentence!r}")
    return figures


def main() -> None:
    """Print a row for each reader."""
    wanted = parser(__doc__, data=False)
    wanted.add_argument("--files", type=int, help="how many (32; 30 of other programs)")
    wanted.add_argument("--seed", type=int, default=1)
    wanted.add_argument("--all", action="store_true", help="compare other readers")
    wanted.add_argument("--misses", action="store_true", help="show sentences that are missing")
    wanted.add_argument("--write", type=Path, help="a folder for the files")
    wanted.add_argument("--real", type=Path, help="a folder of PDF files and their web pages")
    wanted.add_argument("--tools", metavar="PYTHON", help="which has the programs that make files")
    options = wanted.parse_args()
    if options.real:
        files = list(real(options.real))
    elif options.tools:
        count = 30 if options.files is None else options.files
        files = list(by_tools(options.tools, count, options.seed))
    else:
        files = list(made(options.files or 32, options.seed))
    if options.write:
        options.write.mkdir(parents=True, exist_ok=True)
        for at, file in enumerate(files):
            (options.write / f"{at:03}_{file.kind}.pdf").write_bytes(file.data)
    readers = {"localrag": with_localrag}
    if options.all:
        readers |= {"pypdf": with_pypdf, "PDFium": with_pdfium, "pdfminer.six": with_pdfminer}
    pages = sum(file.pages for file in files)
    print(f"{len(files)} files, {pages} pages, {sum(len(f.sentences) for f in files)} sentences")
    for name, read in readers.items():
        try:
            got = judge(
                read, files, show=options.misses and name == "localrag", is_real=bool(options.real)
            )
        except ImportError:
            print(f"{name}: not installed")
            continue
        print(
            f"{name}: sentences right {rate(got.right, got.sentences)}, "
            f"files with every sentence right {rate(got.whole_files, len(files))}, "
            f"characters {got.characters / max(1, len(files)):.3f}, "
            f"order {got.order / max(1, len(files)):.3f}, "
            f"{pages / max(got.seconds, 1e-9):.1f} pages a second of the processor"
        )


if __name__ == "__main__":
    main()
