"""Texts in Markdown: a reader of Markdown sees them unchanged."""

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from localrag.page.markdown import code, line, paragraph, quotation

from ...rows import each

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
HOSTILE = [
    "# heading",
    "####### seven",
    "title\n=====",
    "title\n---",
    "***",
    "- item\n+ item\n* item\n1. item\n2) item",
    "> quoted",
    "```\ncode\n```",
    "~~~\ncode",
    "    four blanks\n\ttab",
    "[link](https://example.invalid) ![image](x.png) [1] [^1]",
    "[1]: https://example.invalid",
    "<b>bold</b> <script>alert(1)</script> <!-- gone -->",
    "<https://example.invalid> https://example.invalid www.example.invalid",
    "*em* _em_ **strong** __strong__ ~~gone~~ `code` $x$",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "a | b\n--- | ---\n1 | 2",
    ":--|--:\na|b",
    "&amp; &lt; &#60; \\* \\\\",
    "ends with a backslash\\\nnext",
    "第八条　渡し守は、水位が［政令］で定める基準を超えるときは、\n\n２　運航してはならない。",
    "\x1b[31mred\u202e",
    "-",
    "+1",
    "12.",
]


def blocks(markdown: str) -> set[str]:
    """The elements a reader of Markdown finds besides text."""
    found: set[str] = set()

    def note(tokens: list[Token]) -> None:
        for token in tokens:
            found.add(token.type.removesuffix("_open").removesuffix("_close"))
            note(token.children or [])

    note(READER.parse(markdown))
    return found


def read(markdown: str) -> str:
    """The text shown by a reader of Markdown, line by line."""
    lines: list[str] = []
    for token in READER.parse(markdown):
        if token.type == "inline":
            lines += "".join(
                "\n" if child.type in ("hardbreak", "softbreak") else child.content
                for child in token.children or []
            ).split("\n")
    return "\n".join(lines)


@each("text", HOSTILE)
def test_hostile_text_stays_text(text: str) -> None:
    assert blocks(paragraph(text)) <= {"paragraph", "inline", "text", "hardbreak", "text_special"}
    assert blocks(quotation(text)) <= {
        *("blockquote", "paragraph", "inline", "text", "hardbreak", "text_special"),
    }
    shown = text.replace("\x1b", "␛").replace("\u202e", "\N{REPLACEMENT CHARACTER}")
    assert read(paragraph(text)).split("\n") == [row for row in shown.split("\n") if row]
    assert "https://" not in paragraph(text)


@given(st.text(alphabet=st.sampled_from("a渡 \t\n#*_-+=`~[]()<>!&;|\\:.1$>/")))
def test_any_text_stays_text(text: str) -> None:
    assert blocks(paragraph(text)) <= {"paragraph", "inline", "text", "hardbreak", "text_special"}
    # Only blanks at line ends may be lost.
    assert "".join(read(paragraph(text)).split()) == "".join(text.split())
    assert blocks(f"- {line(text)}") <= {
        *("bullet_list", "list_item", "paragraph", "inline", "text", "text_special"),
    }
    assert blocks(f"- x {code(text or ' ')}") <= {
        *("bullet_list", "list_item", "paragraph", "inline", "text", "code_inline"),
    }


def test_japanese_reads_as_it_is() -> None:
    text = "第二十七条の三十六　「上場会社等」とは、次の（一）から（三）までをいう。"
    assert line(text) == paragraph(text) == text
    assert quotation("一\n\n二\n三") == "> 一\n>\n> 二\\\n> 三"


def test_code_holds_any_identifier() -> None:
    assert code("F1#8.1") == "`F1#8.1`"
    assert code("a`b``c") == "```a`b``c```"
    assert code("`") == "`` ` ``"
