"""Parsers on random input, each in its own process.

Hypothesis changes sound files and texts at random places (bytes inserted, deleted, doubled, moved,
repeated thousands of times), and makes some from nothing. A parser may read them, or refuse them
with a cause. Counted are other exceptions, inputs that take more than a few seconds of the
processor, and ends by a signal; ``--keep`` keeps these inputs.

Then one unit is repeated 4 times as often, twice. Parsers that take more than n log n, with a
margin for a busy machine, are named with the unit.
"""

import argparse
import io
import json
import math
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

from bench.options import parser
from bench.own_process import Died, result_of
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from localrag import sample
from localrag.corpus import readers
from localrag.corpus.config import load
from localrag.corpus.readers.types import ReadFailure
from localrag.corpus.rows import prepare
from localrag.corpus.types import Document, LawRow
from localrag.corpus.workspace import Workspace
from localrag.errors import ConfigError, InputError
from localrag.law.citations import find_citations
from localrag.law.names import LawNames
from localrag.law.typed import read_headings, read_typed, short_citations, written_out
from localrag_models.errors import ModelError
from localrag_models.gguf import read_header

SLOW, HANGS, WAITS = 5.0, 30.0, 600.0
"""Processor seconds of a slow input, and of a hanging one; wall seconds of an idle process."""
MARGIN = 2.0
"""How much longer than n log n counts as more."""
_LEAST, _MOST = 4 << 10, 4 << 20
_MEASURABLE, _CLEAR = 0.01, 0.1
"""Processor seconds long enough to compare, and to stop trying longer inputs."""
Unit = tuple[bytes, bytes, bytes]
"""The part before, the repeated unit, and the part after."""


@dataclass(frozen=True)
class Parser:
    """A parser: its call, sound inputs, meaningful words, repeated units.

    Attributes:
        read: takes the input and its own folder; raises only forbidden exceptions.
    """

    read: Callable[[bytes, Path], None]
    sound: Callable[[], list[bytes]]
    words: Sequence[bytes]
    repeated: Sequence[Unit]


@dataclass
class Seen:
    """What became of the inputs of a parser."""

    inputs: int = 0
    slowest: float = 0.0
    faults: Counter[str] = field(default_factory=Counter)


def main() -> None:
    """Try every parser, and print a line for each."""
    options = parser(__doc__, data=False)
    options.add_argument("--seconds", type=float, default=600, metavar="S", help="each (600)")
    options.add_argument("--parsers", nargs="+", choices=PARSERS, help="these alone")
    options.add_argument("--seed", type=int, default=1, metavar="N", help="of the changes (1)")
    options.add_argument("--keep", type=Path, metavar="FOLDER", help="where inputs are kept")
    options.add_argument("--growth-to", type=int, default=_MOST, metavar="BYTES", help="at most")
    chosen = options.parse_args()
    print(f"{'parser':<11}{'inputs':>9}{'slowest s':>11}{'faults':>8}{'growth':>9}  which")
    for name in chosen.parsers or PARSERS:
        with tempfile.TemporaryDirectory() as folder:
            attempt(name, chosen, Path(folder))


def attempt(name: str, chosen: argparse.Namespace, folder: Path) -> None:
    """Try a parser in processes that may die, and print the result."""
    seen, ends = Seen(), time.monotonic() + chosen.seconds
    number = chosen.seed
    while time.monotonic() < ends:
        told = child(folder, partial(changed, name, number, ends, folder, chosen.keep))
        number += 1_000
        if isinstance(told, str):
            seen.faults[told] += 1
            keep(chosen.keep, name, folder / "input")
            continue
        seen.inputs += told["inputs"]
        seen.slowest = max(seen.slowest, told["slowest"])
        seen.faults.update(told["faults"])
    worst, unit = 0.0, b""
    for repeated in PARSERS[name].repeated:
        grown = child(folder, partial(growth, name, repeated, folder, chosen.growth_to))
        if isinstance(grown, str):
            seen.faults[f"{grown} over {repeated[1][:40]!r} again and again"] += 1
        elif grown["growth"] > worst:
            worst, unit = grown["growth"], repeated[1]
    which = "; ".join(f"{count} × {fault}" for fault, count in seen.faults.most_common(8))
    if worst > MARGIN:
        which += f"; grows with {unit[:60]!r}"
    print(
        f"{name:<11}{seen.inputs:>9,}{seen.slowest:>11.2f}{seen.faults.total():>8}{worst:>9.2f}"
        f"  {which or 'none'}",
        flush=True,
    )


def child(folder: Path, work: Callable[[], dict[str, Any]]) -> Any:
    """What a process of its own gives back, or in words how it ended without."""
    current = folder / "input"
    current.write_bytes(b"")
    try:
        return result_of(work, lambda: time.time() - current.stat().st_mtime < WAITS)
    except Died as died:
        return "no end" if signal.SIGPROF.name in str(died) else str(died)


def begin(data: bytes, folder: Path) -> float:
    """Note the next input, and end the process if it takes too long.

    Returns:
        Seconds of the processor so far.
    """
    (folder / "input").write_bytes(data)
    signal.setitimer(signal.ITIMER_PROF, HANGS)
    return time.process_time()


def changed(name: str, number: int, ends: float, folder: Path, kept: Path | None) -> dict[str, Any]:
    """Read changed inputs until time is over; what became of them."""
    parser, seen = PARSERS[name], Seen()
    warnings.simplefilter("ignore")
    while time.monotonic() < ends:

        @seed(number)
        @settings(
            max_examples=300,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(inputs(parser))
        def read(data: bytes) -> None:
            if time.monotonic() > ends:
                return
            began = begin(data, folder)
            try:
                parser.read(data, folder)
            except Exception as error:  # noqa: BLE001 - this is what is looked for
                seen.faults[_where(error)] += 1
                keep(kept, name, folder / "input")
            took = time.process_time() - began
            if took > SLOW:
                seen.faults[f"took more than {SLOW:.0f} s"] += 1
                keep(kept, name, folder / "input")
            seen.slowest = max(seen.slowest, took)
            seen.inputs += 1

        read()
        number += 1
    return {"inputs": seen.inputs, "slowest": seen.slowest, "faults": seen.faults}


def inputs(parser: Parser) -> st.SearchStrategy[bytes]:
    """Sound inputs with some changes, and some from nothing."""
    change = st.tuples(
        st.sampled_from(("insert", "delete", "double", "move", "flip", "many")),
        st.floats(0, 1),
        st.one_of(st.sampled_from(list(parser.words)), st.binary(min_size=1, max_size=6)),
        st.integers(1, 3_000),
    )
    changes = st.lists(change, min_size=1, max_size=10)
    from_sound = st.builds(_changed, st.sampled_from(parser.sound()), changes)
    from_words = st.lists(st.sampled_from(list(parser.words)), max_size=60).map(b"".join)
    return st.one_of(from_sound, from_sound, from_words, st.binary(max_size=400))


def _changed(data: bytes, changes: list[tuple[str, float, bytes, int]]) -> bytes:
    for how, share, word, count in changes:
        at = int(share * len(data))
        piece = data[at : at + count % 200]
        match how:
            case "insert":
                data = data[:at] + word + data[at:]
            case "delete":
                data = data[:at] + data[at + len(piece) :]
            case "double":
                data = data[:at] + piece + data[at:]
            case "move":
                data = data[:at] + data[at + len(piece) :] + piece
            case "flip" if piece:
                data = data[:at] + bytes([piece[0] ^ (count % 255 + 1)]) + data[at + 1 :]
            case "many":
                data = data[:at] + word * count + data[at:]
    return data


def growth(name: str, unit: Unit, folder: Path, most: int) -> dict[str, float]:
    """How much longer than n log n four times as much takes; 0 where all of it takes no time."""
    parser = PARSERS[name]
    before, repeated, after = unit
    size, earlier, grown = _LEAST, 0.0, 0.0
    while size <= most and earlier < _CLEAR:
        data = before + repeated * (size // len(repeated)) + after
        took = math.inf
        for _ in range(2):
            began = begin(data, folder)
            parser.read(data, folder)
            took = min(took, time.process_time() - began)
        if earlier > _MEASURABLE:
            grown = took / earlier / (4 * math.log(size) / math.log(size / 4))
        earlier, size = took, size * 4
    return {"growth": grown}


def keep(kept: Path | None, name: str, data: Path) -> None:
    """Keep an input where inputs are kept."""
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        (kept / f"{name}-{time.time_ns()}").write_bytes(data.read_bytes())


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else ""
    return f"{type(error).__name__} at {place}: {str(error)[:80]}"


# The parsers


@cache
def _names() -> LawNames:
    laws = [
        outcome
        for path in sorted(sample.FOLDER.rglob("*.xml"))
        for outcome in readers.read(path)
        if isinstance(outcome, Document)
    ]
    return LawNames(
        LawRow(law.id, law.title, *(law.metadata.get(f, "") for f in ("law_num", "law_type")))
        for law in laws
    )


def read_citations(data: bytes, _folder: Path) -> None:
    """Read a text as a provision has it, and as somebody types it."""
    text, names = data.decode(errors="replace"), _names()
    find_citations(text, names)
    # Typed input is one line.
    typed = text[:20_000]
    read_typed(typed, names)
    short_citations(typed, names)
    read_headings(typed)
    written_out(typed, names)


def read_file(name: str) -> Callable[[bytes, Path], None]:
    """Read a file of a name, and lay its documents out for the store."""

    def read(data: bytes, folder: Path) -> None:
        path = folder / name
        path.write_bytes(data)
        for outcome in readers.read(path):
            if isinstance(outcome, ReadFailure):
                assert outcome.cause, "a failure without a cause"
                continue
            with suppress(InputError):
                prepare(outcome)

    return read


def read_gguf(data: bytes, folder: Path) -> None:
    """Read the header of a model, and its fields."""
    path = folder / "model.gguf"
    path.write_bytes(data)
    with suppress(ModelError):
        header = read_header(path)
        assert header.kind
        str((header.context, header.name, header.chat_template, header.architecture))


def read_settings(data: bytes, folder: Path) -> None:
    """Read the settings of a workspace."""
    workspace = Workspace(folder / "home")
    workspace.home.mkdir(exist_ok=True)
    workspace.settings.write_bytes(data)
    with suppress(ConfigError):
        load(workspace, {})


def _sample(suffix: str) -> Callable[[], list[bytes]]:
    return lambda: [path.read_bytes() for path in sorted(sample.FOLDER.rglob(f"*{suffix}"))]


def _lines() -> list[bytes]:
    law = {
        "law_id": "599AC0000000009",
        "date": "2026-04-01",
        "title": "試験法",
        "law_num": "令和百年法律第九号",
        "articles": [
            {
                "num": "1",
                "caption": "（目的）",
                "title": "第一条",
                "paragraphs": [{"num": "1", "text": "この法律は、舟について定める。"}],
            }
        ],
    }
    rows: list[Any] = [
        law,
        {"id": "a", "title": "灯台", "text": "白浜灯台は1871年に点灯した。"},
        {"subject": "白浜灯台", "predicate": "高さ", "object": "29メートル"},
    ]
    return [json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows] + [
        b"".join(json.dumps(row).encode() + b"\n" for row in rows[1:] * 3)
    ]


def _pdf() -> list[bytes]:
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    name = NameObject
    font = DictionaryObject(
        {name("/Type"): name("/Font"), name("/Subtype"): name("/Type1")}
        | {name("/BaseFont"): name("/Helvetica")}
    )
    for text in ("The lamp is lit.", "Of stone."):
        page = writer.add_blank_page(300, 300)
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 20 200 Td ({text}) Tj ET".encode())
        page[name("/Contents")] = writer._add_object(stream)
        page[name("/Resources")] = DictionaryObject(
            {name("/Font"): DictionaryObject({name("/F1"): font})}
        )
    out = io.BytesIO()
    writer.write(out)
    return [out.getvalue()]


def _docx() -> list[bytes]:
    import docx

    word = docx.Document()
    word.add_heading("灯台", 1)
    word.add_paragraph("光は海を渡る。")
    word.add_table(1, 2).cell(0, 0).text = "塔"
    out = io.BytesIO()
    word.save(out)
    return [out.getvalue()]


def _gguf() -> list[bytes]:
    from tiny_models.chat import write_chat_gguf

    with tempfile.TemporaryDirectory() as folder:
        write_chat_gguf(path := Path(folder) / "a.gguf")
        # Only its header is read.
        return [path.read_bytes()[:20_000], path.read_bytes()]


def _settings() -> list[bytes]:
    package = Path(sys.modules["localrag"].__file__ or "").parent
    template = (package / "corpus" / "localrag.en.toml").read_text()
    used = "\n".join(line.removeprefix("#") for line in template.splitlines() if " = " in line)
    return [template.encode(), used.encode(), b'language = "ja"\n[retrieval]\nk = 5\n']


_NESTED = [(b"", unit, b"") for unit in (b"[", b"{", b"(", b"<a>", b'{"a":', "（".encode())]
_LAW = b'<Law LawType="Act"><LawNum/><LawBody><LawTitle>A</LawTitle><MainProvision>'
_END = b"</MainProvision></LawBody></Law>"
_ARTICLE = (
    b'<Article Num="1"><ArticleTitle>A</ArticleTitle><Paragraph Num="1"><ParagraphSentence>'
    b"<Sentence>a</Sentence></ParagraphSentence></Paragraph></Article>"
)


def _encoded(*words: str) -> list[bytes]:
    return [word.encode() for word in words]


PARSERS: dict[str, Parser] = {
    "citations": Parser(
        read_citations,
        lambda: _encoded(
            "渡し舟法第八条第一項第二号イの規定により、同条第三項及び前二条の規定を準用する。",
            "民709、金商27の2①一、会社356Ⅰ②、民訴規15、民法709〜724条、5・6条",
            "附則（平成二七年五月二七日法律第三二号）第二条、別表第二の三の項、第三編第五章",
        ),
        _encoded(*"第条項号のイロ及並若又前次同各法令規則附表別編章節一二十百①Ⅱ・〜-（）、。 1270"),
        [(b"", one.encode(), b"") for one in ("第", "第一条", "の二", "（", "及び第二条", "、同条",
         "民709", "①", "第一条から第三条まで", "法", "1", "・", "附則", "前条",
         "第二項において準用する")],
    ),
    "xml": Parser(
        read_file("599AC0000000001_20260401.xml"),
        _sample(".xml"),
        [b"<Article Num=\"1\">", b"</Article>", b"<Item>", b"<", b">", b"&amp;", b"&", b"<!--",
         b"<![CDATA[", b"]]>", b"<!DOCTYPE a [<!ENTITY b \"c\">]>", b"Num=\"1:9\"", b"\x00",
         b"\xff", b"<Table>", b"<TableStruct>", b"<Sentence>", b"<SupplProvision>", b"<Ruby>"],
        [*_NESTED, (_LAW, _ARTICLE, _END), (_LAW, b"<Article>", _END), (_LAW, b"&#12354;", _END),
         (_LAW + b"<Paragraph>", b"<Item Num=\"1\">", b""), (_LAW, b"<!-- -->", _END)],
    ),
    "json-lines": Parser(
        read_file("a.jsonl"),
        _lines,
        [b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\u", b"\\ud800", b"null", b"1e999", b"NaN",
         b"\n", b"\r", b"-", b'"id":', b'"text":', b'"articles":', b'"num":', b"\xef\xbb\xbf"],
        [*_NESTED, (b"", b"{}\n", b""), (b"", b"\n", b""), (b"", b'{"text":"a"}\n', b""),
         (b'{"text":"', b"a\\n\\n", b'"}'), (b'{"id":"', b"a", b'","text":"b"}'),
         (b'{"text":"', b"\\ud800", b'"}')],
    ),
    "pdf": Parser(
        read_file("a.pdf"),
        _pdf,
        [b"obj", b"endobj", b"stream", b"endstream", b"<<", b">>", b"[", b"]", b"/Kids", b"/Parent",
         b"/Length 999999", b"/Filter /FlateDecode", b"1 0 R", b"xref", b"trailer", b"startxref",
         b"%%EOF", b"(", b")", b"/Contents", b"/Prev 0", b"BT", b"Tj", b"/ObjStm"],
        [(b"%PDF-1.7\n", unit, b"\n%%EOF") for unit in
         (b"[", b"<<", b"(", b"1 0 obj\n", b"trailer\n", b"startxref\n", b"/Kids ", b"1 0 R ")],
    ),
    "docx": Parser(
        read_file("a.docx"),
        _docx,
        [b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"[Content_Types].xml", b"word/document.xml",
         b"<w:p>", b"\x00\x00", b"\xff\xff\xff\xff", b"_rels/.rels"],
        [(b"PK\x03\x04", b"PK\x03\x04", b""), (b"PK\x03\x04", b"PK\x05\x06", b"")],
    ),
    "gguf": Parser(
        read_gguf,
        _gguf,
        [b"GGUF", b"\xff" * 8, b"\x00" * 8, b"\x08\x00\x00\x00", b"\x09\x00\x00\x00",
         b"general.architecture", b"\x01\x00\x00\x00\x00\x00\x00\x80", b"llama"],
        [(b"GGUF\x03\x00\x00\x00" + (1 << 30).to_bytes(8, "little") * 2, b"\x00" * 8, b""),
         (b"GGUF\x03\x00\x00\x00" + bytes(8) + (1 << 20).to_bytes(8, "little"),
          b"\x01" + bytes(7) + b"a\x00\x00\x00\x00\x00", b"")],
    ),
    "settings": Parser(
        read_settings,
        _settings,
        [b"[", b"]", b"[[", b"=", b'"', b'"""', b"'", b"#", b"\n", b".", b"{", b"}", b"1979-05-27",
         b"0x", b"inf", b"[retrieval]\n", b"k = 5\n", b"\\u0000", b"\xff", b"language = 1\n"],
        [(b"a = ", b"[", b""), (b"a = ", b"{a=", b""), (b"", b"a.", b"b = 1"), (b"", b"[a]\n", b""),
         (b'a = "', b"\\n", b'"'), (b"", b"# a\n", b""), (b"[", b"a.", b"b]\nc = 1")],
    ),
}  # fmt: skip


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1]))
    main()
