"""Word files made part by part, as Word stores them, for tests of what reads or writes them."""

import io
import zipfile

_OFFICE = "http://schemas.openxmlformats.org"
_DECLARED = (
    f'xmlns:w="{_OFFICE}/wordprocessingml/2006/main" '
    f'xmlns:r="{_OFFICE}/officeDocument/2006/relationships" '
    f'xmlns:m="{_OFFICE}/officeDocument/2006/math" '
    f'xmlns:a="{_OFFICE}/drawingml/2006/main" '
    f'xmlns:pic="{_OFFICE}/drawingml/2006/picture" '
    f'xmlns:wp="{_OFFICE}/drawingml/2006/wordprocessingDrawing" '
    f'xmlns:mc="{_OFFICE}/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"'
)
_ROOTS = {"header": "hdr", "footer": "ftr"}
BY = 'w:id="1" w:author="A" w:date="2026-01-01T00:00:00Z"'
"""Who changed something, and when."""


def t(text: str, properties: str = "") -> str:
    """A run."""
    of_run = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{of_run}<w:t xml:space="preserve">{text}</w:t></w:r>'


def p(*content: str, properties: str = "") -> str:
    """A paragraph."""
    of_paragraph = f"<w:pPr>{properties}</w:pPr>" if properties else ""
    return f"<w:p>{of_paragraph}{''.join(content)}</w:p>"


def cell(*content: str, properties: str = "") -> str:
    """A cell of a table."""
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{''.join(content)}</w:tc>"


def rows(*cells: str) -> str:
    """A table, its rows given as their cells."""
    return "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in cells) + "</w:tbl>"


def numbered(text: str, level: int = 0, use: int = 1) -> str:
    """A numbered paragraph."""
    numbering = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{use}"/></w:numPr>'
    return p(t(text), properties=numbering)


def levels(*of: tuple[str, str], more: str = "") -> str:
    """A list with a format and a text a level, and its first use."""
    each = "".join(
        f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{number_format}"/>'
        f'<w:lvlText w:val="{text}"/>{more}</w:lvl>'
        for at, (number_format, text) in enumerate(of)
    )
    return (
        f'<w:abstractNum w:abstractNumId="0">{each}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )


def notes(kind: str, *texts: str) -> str:
    """The notes of a file; their ids begin with 2, after those of the separators."""
    separator = f'<w:{kind} w:type="separator" w:id="0">{p(t("―"))}</w:{kind}>'
    return separator + "".join(
        f'<w:{kind} w:id="{id_}">{p(t(text))}</w:{kind}>' for id_, text in enumerate(texts, 2)
    )


def word(*body: str, strict: bool = False, **parts: str) -> bytes:
    """A Word file.

    Args:
        body: what its main part holds.
        strict: whether it is Strict Open XML.
        parts: what ``numbering``, ``styles``, ``footnotes``, ``header`` … hold.
    """
    main = f"<w:body>{''.join(body)}</w:body>"
    files = {"word/document.xml": f"<w:document {_DECLARED}>{main}</w:document>"}
    for kind, content in parts.items():
        root = _ROOTS.get(kind, kind)
        files[f"word/{kind}.xml"] = f"<w:{root} {_DECLARED}>{content}</w:{root}>"
    files["word/_rels/document.xml.rels"] = _relations(*((kind, f"{kind}.xml") for kind in parts))
    files["_rels/.rels"] = _relations(("officeDocument", "word/document.xml"))
    files["[Content_Types].xml"] = (
        f'<Types xmlns="{_OFFICE}/package/2006/content-types">'
        '<Default Extension="xml" ContentType="application/xml"/>'
        '<Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/><Override '
        'PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument'
        '.wordprocessingml.document.main+xml"/></Types>'
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            if strict:
                for of in ("wordprocessingml", "officeDocument", "drawingml"):
                    content = content.replace(
                        f"{_OFFICE}/{of}/2006", f"http://purl.oclc.org/ooxml/{of}"
                    )
            archive.writestr(name, content)
    return out.getvalue()


def _relations(*of: tuple[str, str]) -> str:
    each = (
        f'<Relationship Id="{kind}" Target="{target}" '
        f'Type="{_OFFICE}/officeDocument/2006/relationships/{kind}"/>'
        for kind, target in of
    )
    space = f"{_OFFICE}/package/2006/relationships"
    return f'<Relationships xmlns="{space}">{"".join(each)}</Relationships>'


def style(id_: str, content: str, kind: str = "paragraph") -> str:
    """A style of paragraphs, or of another kind."""
    return f'<w:style w:type="{kind}" w:styleId="{id_}">{content}</w:style>'
