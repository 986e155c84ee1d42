"""Word files made for measuring, with a list of every sentence in them.

A feature writes something as Word does (a footnote, a tracked change, a number) into a `Made`;
`FEATURES` lists them. All wording is invented.
"""

import io
import random
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

_SPACES = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
    "pic": "http://schemas.openxmlformats.org/drawingml/2006/picture",
    "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    "v": "urn:schemas-microsoft-com:vml",
    "o": "urn:schemas-microsoft-com:office:office",
}
_DECLARED = " ".join(f'xmlns:{prefix}="{space}"' for prefix, space in _SPACES.items())
_SECTION = "<w:sectPr/>"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_STRICT = (
    ("http://schemas.openxmlformats.org/wordprocessingml/2006/", "wordprocessingml/"),
    ("http://schemas.openxmlformats.org/officeDocument/2006/", "officeDocument/"),
    ("http://schemas.openxmlformats.org/drawingml/2006/", "drawingml/"),
)
WHO = ["甲", "乙", "借主", "貸主", "受託者", "委託者", "管理者", "申請者", "占有者", "発注者"]
WHAT = ["渡し場", "桟橋", "係留施設", "灯台", "堤防", "倉庫", "荷揚場", "水門", "待合所", "浮標"]
DOES = [
    "引き渡し",
    "点検し",
    "修繕し",
    "届け出",
    "清掃し",
    "測量し",
    "記録し",
    "撤去し",
    "保管し",
    "検査し",
]
DIGITS = "一二三四五六七八九"


def t(text: str) -> str:
    """A run."""
    return f'<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def p(*content: str, properties: str = "") -> str:
    """A paragraph."""
    return f"<w:p>{f'<w:pPr>{properties}</w:pPr>' if properties else ''}{''.join(content)}</w:p>"


def mark(kind: str) -> str:
    """The mark of a complex field."""
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


def instruction(text: str) -> str:
    """What a complex field does."""
    return f'<w:r><w:instrText xml:space="preserve">{escape(text)}</w:instrText></w:r>'


@dataclass
class MadeWordFile:
    """A Word file in the making, and its content.

    Attributes:
        sentences: expected in this order, with numbers made by Word.
        absent: hidden by Word; no reader may return it.
        named: by word of its name, how much must be reported as not read.
        strict: whether it is Strict Open XML.
    """

    rng: random.Random
    body: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    named: Counter[str] = field(default_factory=Counter)
    notes: dict[str, list[str]] = field(default_factory=dict)
    headers: list[str] = field(default_factory=list)
    footers: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    abstract: list[str] = field(default_factory=list)
    uses: list[str] = field(default_factory=list)
    styles: list[str] = field(default_factory=list)
    strict: bool = False
    said: set[str] = field(default_factory=set)

    def sentence(self, *, kept: bool = True) -> str:
        """A sentence that is nowhere else in the file; it is entered among those to be found."""
        while True:
            first, second, third = (self.rng.choice(DIGITS) for _ in range(3))
            text = (
                f"{self.rng.choice(WHO)}は、{first}十{second}日以内に{self.rng.choice(WHAT)}を"
                f"{self.rng.choice(DOES)}、{third}万{second}千{first}百円を支払う。"
            )
            if text not in self.said:
                self.said.add(text)
                (self.sentences if kept else self.absent).append(text)
                return text

    def runs(self, *, kept: bool = True) -> str:
        """A sentence in one to four runs, as Word stores what was edited."""
        text = self.sentence(kept=kept)
        cuts = sorted(self.rng.sample(range(1, len(text)), self.rng.randint(0, 3)))
        pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        return "".join(map(t, pieces))

    def note(self, kind: str, content: str) -> str:
        """A note; gives its mark."""
        notes = self.notes.setdefault(kind, [])
        notes.append(content)
        id_ = len(notes) + 1
        return f'<w:r><w:{kind}Reference w:id="{id_}"/></w:r>'

    def numbered(self, levels: list[tuple[str, str]], override: str = "") -> int:
        """A list with a format and a text a level; gives the id of its use."""
        id_ = len(self.abstract)
        self.abstract.append(
            f'<w:abstractNum w:abstractNumId="{id_}"><w:multiLevelType w:val="multilevel"/>'
            + "".join(
                f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{of}"/>'
                f'<w:lvlText w:val="{text}"/><w:lvlJc w:val="left"/></w:lvl>'
                for at, (of, text) in enumerate(levels)
            )
            + "</w:abstractNum>"
        )
        return self.use(id_, override)

    def use(self, abstract: int, override: str = "") -> int:
        """A use of a list."""
        id_ = len(self.uses) + 1
        self.uses.append(
            f'<w:num w:numId="{id_}"><w:abstractNumId w:val="{abstract}"/>{override}</w:num>'
        )
        return id_

    def item(self, use: int, level: int, label: str) -> None:
        """A numbered paragraph; its number is entered with its sentence."""
        runs = self.runs()
        self.sentences[-1] = label + self.sentences[-1]
        numbering = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{use}"/></w:numPr>'
        self.body.append(p(runs, properties=numbering))

    def bytes(self) -> bytes:
        """The file."""
        parts, relations, types = self._parts()
        references = "".join(
            f'<w:{kind}Reference w:type="default" r:id="{kind}{n}"/>'
            for kind, all_ in (("header", self.headers), ("footer", self.footers))
            for n in range(len(all_))
        )
        body = "".join([*self.body, _SECTION]).replace(
            _SECTION, f"<w:sectPr>{references}</w:sectPr>"
        )
        parts["word/document.xml"] = f"<w:document {_DECLARED}><w:body>{body}</w:body></w:document>"
        types["word/document.xml"] = f"{_TYPE}.document.main+xml"
        parts["word/_rels/document.xml.rels"] = _relationships(relations)
        parts["_rels/.rels"] = _relationships([("rId1", "officeDocument", "word/document.xml")])
        parts["[Content_Types].xml"] = (
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Default Extension="xml" ContentType="application/xml"/>'
            + "".join(
                f'<Override PartName="/{part}" ContentType="{kind}"/>'
                for part, kind in types.items()
            )
            + "</Types>"
        )
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for part, content in parts.items():
                content = _as_strict(content) if self.strict else content
                archive.writestr(part, _HEAD + content)
        return out.getvalue()

    def _parts(self) -> tuple[dict[str, str], list[tuple[str, str, str]], dict[str, str]]:
        """The parts besides the main one, their relationships, their types."""
        found: list[tuple[str, str, str]] = []
        for kind in ("header", "footer"):
            for n, content in enumerate(getattr(self, f"{kind}s")):
                root = "hdr" if kind == "header" else "ftr"
                found.append((f"{kind}{n}", kind, f"<w:{root} {_DECLARED}>{content}</w:{root}>"))
        for kind, notes in self.notes.items():
            separator = f'<w:{kind} w:type="separator" w:id="0">{p()}</w:{kind}>'
            each = (
                f'<w:{kind} w:id="{n}">{content}</w:{kind}>' for n, content in enumerate(notes, 2)
            )
            content = f"<w:{kind}s {_DECLARED}>{separator}{''.join(each)}</w:{kind}s>"
            found.append((f"{kind}s", f"{kind}s", content))
        if self.comments:
            each = (
                f'<w:comment w:id="{n}" w:author="A">{p(t(text))}</w:comment>'
                for n, text in enumerate(self.comments)
            )
            content = f"<w:comments {_DECLARED}>{''.join(each)}</w:comments>"
            found.append(("comments", "comments", content))
        if self.abstract:
            content = "".join([*self.abstract, *self.uses])
            content = f"<w:numbering {_DECLARED}>{content}</w:numbering>"
            found.append(("numbering", "numbering", content))
        styles = "".join(self.styles)
        found.append(("styles", "styles", f"<w:styles {_DECLARED}>{styles}</w:styles>"))
        parts = {f"word/{name}.xml": content for name, _, content in found}
        relations = [(name, kind, f"{name}.xml") for name, kind, _ in found]
        return (
            parts,
            relations,
            {f"word/{name}.xml": f"{_TYPE}.{kind}+xml" for name, kind, _ in found},
        )


def _relationships(relations: list[tuple[str, str, str]]) -> str:
    each = (
        f'<Relationship Id="{id_}" Type="{_SPACES["r"]}/{kind}" Target="{target}"/>'
        for id_, kind, target in relations
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{"".join(each)}</Relationships>'


def _as_strict(content: str) -> str:
    for transitional, strict in _STRICT:
        content = content.replace(transitional, f"http://purl.oclc.org/ooxml/{strict}")
    return content


Feature = Callable[[MadeWordFile], None]
FEATURES: dict[str, Feature] = {}


def feature(write: Feature) -> Feature:
    """Enter a feature."""
    FEATURES[write.__name__] = write
    return write


@feature
def plain(made: MadeWordFile) -> None:
    """A paragraph in several runs."""
    made.body.append(p(made.runs()))


@feature
def tracked(made: MadeWordFile) -> None:
    """A deletion, an insertion, something that was moved."""
    by = 'w:id="9" w:author="A" w:date="2026-01-01T00:00:00Z"'
    old = made.runs(kept=False).replace("w:t>", "w:delText>").replace("<w:t ", "<w:delText ")
    moved = made.runs(kept=False)
    new = made.runs()
    made.body.append(p(f"<w:del {by}>{old}</w:del><w:ins {by}>{new}</w:ins>"))
    made.body.append(p(f"<w:moveFrom {by}>{moved}</w:moveFrom>{made.runs()}"))
    made.body.append(p(f"<w:moveTo {by}>{made.runs()}</w:moveTo>"))
    made.named.update({"tracked deletions": 2, "tracked insertions": 2})


@feature
def joined(made: MadeWordFile) -> None:
    """A sentence over two paragraphs; the first paragraph mark was deleted."""
    text = made.sentence()
    gone = '<w:rPr><w:del w:id="3" w:author="A"/></w:rPr>'
    made.body += [p(t(text[:9]), properties=gone), p(t(text[9:]))]


@feature
def articles(made: MadeWordFile) -> None:
    """Articles, paragraphs and items of a contract, numbered by Word."""
    use = made.numbered(
        [("decimal", "第%1条"), ("decimalFullWidth", "%2"), ("japaneseCounting", "%3"),
         ("aiueoFullWidth", "%4"), ("decimal", "(%5)")]
    )  # fmt: skip
    for article in range(1, made.rng.randint(3, 5)):
        made.item(use, 0, f"第{article}条")
        for below in range(made.rng.randint(0, 3)):
            made.item(use, 1, "１２３"[below])
            for item in range(made.rng.randint(0, 2)):
                made.item(use, 2, "一二"[item])
                for sub in range(made.rng.randint(0, 2)):
                    made.item(use, 3, "アイ"[sub])
                    made.item(use, 4, "(1)")


@feature
def formats(made: MadeWordFile) -> None:
    """Lists in formats of numbers that Japanese documents have."""
    for number_format, labels in (
        ("irohaFullWidth", "イロハ"), ("decimalEnclosedCircle", "①②③"),
        ("ideographTraditional", "甲乙丙"), ("upperRoman", ["I", "II", "III"]),
        ("lowerLetter", "abc"), ("japaneseLegal", "壱弐参"), ("aiueo", "ｱｲｳ"),
    ):  # fmt: skip
        if made.rng.random() < 0.4:
            use = made.numbered([(number_format, "%1.")])
            for label in labels:
                made.item(use, 0, f"{label}.")


@feature
def restarted(made: MadeWordFile) -> None:
    """A list that begins again with a number of its own, and one numbered by its style."""
    first = made.numbered([("decimal", "第%1項")])
    made.item(first, 0, "第1項")
    made.item(first, 0, "第2項")
    begins = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
    again = made.use(len(made.abstract) - 1, begins)
    made.item(again, 0, "第5項")
    made.item(again, 0, "第6項")
    use, style = made.numbered([("decimal", "別記%1")]), f"S{len(made.styles)}"
    made.styles.append(
        f'<w:style w:type="paragraph" w:styleId="{style}"><w:name w:val="{style}"/><w:pPr>'
        f'<w:numPr><w:numId w:val="{use}"/></w:numPr></w:pPr></w:style>'
    )
    for label in ("別記1", "別記2"):
        runs = made.runs()
        made.sentences[-1] = label + made.sentences[-1]
        made.body.append(p(runs, properties=f'<w:pStyle w:val="{style}"/>'))


@feature
def ruby(made: MadeWordFile) -> None:
    """A word with its reading above it."""
    text = made.sentence()
    made.body.append(
        p(
            "<w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>ふりがなのよみ</w:t></w:r></w:rt>"
            f"<w:rubyBase>{t(text[:3])}</w:rubyBase></w:ruby></w:r>{t(text[3:])}"
        )
    )
    made.absent.append("ふりがなのよみ")
    made.named["ruby"] += 1


@feature
def older_ruby(made: MadeWordFile) -> None:
    """Ruby, and a sign in a circle, as fields of older files have them."""
    text = made.sentence()
    of_ruby = instruction(f"EQ \\* jc2 \\* hps10 \\o\\ad(\\s\\up 9(ふるいよみ),{text[:3]})")
    made.body.append(p(mark("begin"), of_ruby, mark("end"), t(text[3:])))
    made.absent.append("ふるいよみ")
    made.named["ruby"] += 1
    text = made.sentence()
    made.sentences[-1] = f"㊞{text}"
    circle = instruction("eq \\o\\ac(○,印)")
    made.body.append(p(mark("begin"), circle, mark("end"), t(text)))


@feature
def text_box(made: MadeWordFile) -> None:
    """Text boxes: with a fallback, in the older form, and one in a table in one."""
    before = made.runs()
    inner = f"<w:txbxContent>{p(made.runs())}{p(made.runs())}</w:txbxContent>"
    shape = f"<wps:wsp><wps:txbx>{inner}</wps:txbx></wps:wsp>"
    made.body.append(
        p(
            before,
            '<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:anchor><a:graphic>'
            f'<a:graphicData uri="{_SPACES["wps"]}">{shape}</a:graphicData></a:graphic></wp:anchor>'
            "</w:drawing></mc:Choice><mc:Fallback><w:pict><v:shape><v:textbox>"
            f"{inner}</v:textbox></v:shape></w:pict></mc:Fallback></mc:AlternateContent></w:r>",
        )
    )
    inner = f"<w:txbxContent>{p(made.runs())}</w:txbxContent>"
    made.body.append(
        p(f"<w:r><w:pict><v:shape><v:textbox>{inner}</v:textbox></v:shape></w:pict></w:r>")
    )


@feature
def footnotes(made: MadeWordFile) -> None:
    """Notes, whose marks are in the middle and at the end of sentences."""
    text, note = made.sentence(), made.runs()
    kind = made.rng.choice(["footnote", "endnote"])
    marked = made.note(kind, p("<w:r><w:footnoteRef/></w:r>", note))
    made.body.append(p(t(text[:12]), marked, t(text[12:])))
    runs = made.runs()
    marked = made.note(kind, p(made.runs()))
    made.body.append(p(runs, marked))


@feature
def margins(made: MadeWordFile) -> None:
    """A header, and a footer with the number of the page."""
    if made.headers:
        return
    first = made.sentence()
    made.sentences.insert(0, made.sentences.pop())
    made.headers.append(p(t(first)))
    page = mark("begin") + instruction("PAGE") + mark("separate") + t("1") + mark("end")
    made.footers.append(p(t("- "), page, t(" -")))


@feature
def controls(made: MadeWordFile) -> None:
    """Content controls around a paragraph, within one, and around a row and a cell."""

    def control(content: str) -> str:
        inner = f"<w:sdtContent>{content}</w:sdtContent>"
        return f'<w:sdt><w:sdtPr><w:id w:val="7"/></w:sdtPr>{inner}</w:sdt>'

    made.body.append(control(p(made.runs())))
    text = made.sentence()
    made.body.append(p(t(text[:5]), control(t(text[5:15])), t(text[15:])))
    first, second = (f"<w:tc>{p(made.runs())}</w:tc>" for _ in range(2))
    made.body.append(f"<w:tbl>{control(f'<w:tr>{first}{control(second)}</w:tr>')}</w:tbl>")


@feature
def placeholder(made: MadeWordFile) -> None:
    """A content control that nobody has filled in."""
    made.body.append(
        p(
            f"<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{t('ここに入力してください。')}"
            f"</w:sdtContent></w:sdt>{made.runs()}"
        )
    )
    made.named["form fields not filled in"] += 1


@feature
def fields(made: MadeWordFile) -> None:
    """Simple, complex and nested fields, and one over two paragraphs."""
    text = made.sentence()
    simple = f'<w:fldSimple w:instr=" REF a ">{t(text[4:9])}</w:fldSimple>'
    made.body.append(p(t(text[:4]), simple, t(text[9:])))
    text = made.sentence()
    nested = mark("begin") + instruction("REF b") + mark("separate") + t("捨てる") + mark("end")
    made.body.append(
        p(
            t(text[:6]), mark("begin"), instruction("IF "), nested, instruction(' = "a" '),
            mark("separate"), t(text[6:14]), mark("end"), t(text[14:]),
        )
    )  # fmt: skip
    made.absent += ["捨てる", "REF"]
    first, second = made.runs(), made.runs()
    made.body.append(p(mark("begin"), instruction("TOC"), mark("separate"), first))
    made.body.append(p(second, mark("end")))


@feature
def form_fields(made: MadeWordFile) -> None:
    """Form fields of older files, whose choice is no text."""
    text = made.sentence()
    listed = "".join(f'<w:listEntry w:val="{of}"/>' for of in ("捨てる選択", text[:6]))
    data = f'<w:ffData><w:ddList><w:result w:val="1"/>{listed}</w:ddList></w:ffData>'
    made.body.append(
        p(
            f'<w:r><w:fldChar w:fldCharType="begin">{data}</w:fldChar></w:r>',
            instruction("FORMDROPDOWN"), mark("end"), t(text[6:]),
        )
    )  # fmt: skip
    made.absent.append("捨てる選択")


@feature
def wrapped(made: MadeWordFile) -> None:
    """Smart tags, custom XML and hyperlinks, within each other."""
    text = made.sentence()
    inner = f"<w:smartTag>{t(text[:8])}<w:customXml>{t(text[8:16])}</w:customXml></w:smartTag>"
    made.body.append(p(f'<w:hyperlink w:anchor="x">{inner}</w:hyperlink>', t(text[16:])))
    made.body.append(f"<w:customXml>{p(made.runs())}</w:customXml>")


@feature
def tables(made: MadeWordFile) -> None:
    """Merged cells, and a table in a cell."""

    def cell(content: str, properties: str = "") -> str:
        return f"<w:tc><w:tcPr>{properties}</w:tcPr>{content}</w:tc>"

    head = cell(p(made.runs()), '<w:gridSpan w:val="3"/>')
    first = cell(p(made.runs()), '<w:vMerge w:val="restart"/>') + cell(p(made.runs()))
    below = cell(p(), "<w:vMerge/>") + cell(p(made.runs()) + p(made.runs()))
    inner = "".join(cell(p(made.runs())) for _ in range(2))
    nested = cell(f"<w:tbl><w:tr>{inner}</w:tr></w:tbl>{p()}")
    rows = (head, first + cell(p(made.runs())), below + nested)
    # The cells were drawn row by row; so are they read.
    *rest, moved = made.sentences
    at = len(rest) - 4
    made.sentences = [*rest[:at], moved, *rest[at:]]
    made.body.append("<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in rows) + "</w:tbl>")


@feature
def signs(made: MadeWordFile) -> None:
    """Signs that are no text: symbols, hyphens, tabs, breaks."""
    text = made.sentence()
    made.sentences[-1] = f"☑{text}"
    made.body.append(p('<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>', t(text)))
    text = made.sentence()
    made.sentences[-1] = f"A-1{text}"
    made.body.append(p("<w:r><w:t>A</w:t><w:noBreakHyphen/><w:t>1</w:t></w:r>", t(text)))
    first, second = made.runs(), made.runs()
    made.body.append(p(first, "<w:r><w:br/></w:r>", second))
    text = made.sentence()
    made.body.append(p(t(text[:7]), "<w:r><w:softHyphen/></w:r>", t(text[7:])))
    first, second = made.runs(), made.runs()
    made.body.append(p(first, "<w:r><w:tab/></w:r>", second))


@feature
def comments(made: MadeWordFile) -> None:
    """A comment."""
    made.comments.append(made.sentence(kept=False))
    id_ = len(made.comments) - 1
    around = f'<w:commentRangeStart w:id="{id_}"/>{made.runs()}<w:commentRangeEnd w:id="{id_}"/>'
    made.body.append(p(around, f'<w:r><w:commentReference w:id="{id_}"/></w:r>'))
    made.named["comments"] += 1


@feature
def hidden(made: MadeWordFile) -> None:
    """Hidden text, by itself and by its style."""
    style = f"H{len(made.styles)}"
    made.styles.append(
        f'<w:style w:type="character" w:styleId="{style}"><w:rPr><w:vanish/></w:rPr></w:style>'
    )
    for properties in ("<w:vanish/>", f'<w:rStyle w:val="{style}"/>'):
        text = made.sentence(kept=False)
        gone = f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"
        made.body.append(p(made.runs(), gone))
        made.named["hidden"] += 1


@feature
def formula(made: MadeWordFile) -> None:
    """A formula."""
    made.body.append(
        p(
            made.runs(),
            "<m:oMath><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r>"
            "</m:den></m:f></m:oMath>",
        )
    )
    made.named["formulas"] += 1


@feature
def objects(made: MadeWordFile) -> None:
    """A picture, a chart, a diagram, an embedded object."""
    for uri, inner, what in (
        ("picture", "<pic:pic/>", "pictures"), ("chart", "", "charts"),
        ("diagram", "", "SmartArt"),
    ):  # fmt: skip
        address = f"http://schemas.openxmlformats.org/drawingml/2006/{uri}"
        graphic = f'<a:graphic><a:graphicData uri="{address}">{inner}</a:graphicData></a:graphic>'
        drawn = f"<w:r><w:drawing><wp:inline>{graphic}</wp:inline></w:drawing></w:r>"
        made.body.append(p(made.runs(), drawn))
        made.named[what] += 1
    shown = '<v:shape><v:imagedata/></v:shape><o:OLEObject ProgID="Excel.Sheet.12"/>'
    made.body.append(p(made.runs(), f"<w:r><w:object>{shown}</w:object></w:r>"))
    made.named["embedded objects"] += 1


@feature
def initial(made: MadeWordFile) -> None:
    """A large first letter, which is a paragraph of its own."""
    text = made.sentence()
    made.body.append(p(t(text[0]), properties='<w:framePr w:dropCap="drop" w:lines="3"/>'))
    made.body.append(p(t(text[1:])))


@feature
def sections(made: MadeWordFile) -> None:
    """A section that ends before the file does."""
    made.body.append(p(made.runs(), properties=_SECTION))
    made.body.append(p(made.runs()))


def of(rng: random.Random, names: list[str], *, strict: bool = False) -> MadeWordFile:
    """Make a file of some features, in their order."""
    made = MadeWordFile(rng, strict=strict)
    for name in names:
        FEATURES[name](made)
    return made
