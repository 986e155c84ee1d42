"""Questions, citations and options that mean nothing: exit code 2 or 3 and a sentence."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...rows import each

Cli = Callable[..., Any]
LONG = "あ" * 100_000


@each("verb", ["search", "ask"])
@each(
    ("question", "cause"),
    [
        ("", "holds no word"),
        (" \n\t", "holds no word"),
        ("？！。…()[]", "holds no word"),
        ("\0\x1b[\u202e", "holds no word"),
        (LONG, "100,000 characters"),
        ("渡し舟\udcff", "not valid UTF-8"),
    ],
)
def test_what_is_no_question(
    cli: Cli, kept: Path, refused: Callable[..., None], verb: str, question: str, cause: str
) -> None:
    refused(cli(verb, question), 2, cause)
    refused(cli(verb, "-", stdin=question), 2, cause)


@each("noise", ["\0", "\x1b[2J", "\u202e", "[bold red]", '" OR *:* AND ~2^9'])
def test_noise_in_a_question_is_only_text(cli: Cli, kept: Path, noise: str) -> None:
    outcome = cli("search", f"{noise}渡し守の資格{noise}", "--explain")
    assert outcome.code == 0
    assert "599AC0000000001#7" in outcome.out
    assert not {"\0", "\x1b", "\u202e"} & set(outcome.out + outcome.err)


REFUSED = {
    "no such article": (["show", "渡し舟法99条"], 3, "渡し舟法99条"),
    "no such law": (["show", "存在しない法1条"], 3, "存在しない法1条"),
    "no citation": (["show", "nonsense"], 3, "names no provision"),
    "empty citation": (["show", ""], 3, "localrag show"),
    "long citation": (["show", LONG], 3, "names no provision"),
    "not a date": (["search", "舟", "--from", "2024-13-01"], 2, "--from '2024-13-01'"),
    "not a date either": (["ask", "舟", "--to", "平成"], 2, "--to '平成'"),
    "no hits wanted": (["search", "舟", "-k", "0"], 2, "-k"),
    "too many wanted": (["search", "舟", "-k", "1001"], 2, "-k"),
    "no number": (["search", "舟", "-k", "all"], 2, "-k"),
    "no such layer": (["search", "舟", "--layer", "pages"], 2, "'pages'"),
    "no such type": (["search", "舟", "--type", "act"], 3, "There is: Act, CabinetOrder"),
    "law not there": (["search", "舟", "--law", "民法"], 3, "'民法'"),
    "long law": (["search", "舟", "--law", LONG], 3, "has no law"),
    "corpus outside": (["search", "舟", "--corpus", "../x"], 2, "'../x'"),
    "corpus to add to outside": (["add", "--sample", "--corpus", "../x"], 2, "'../x'"),
    "corpus not there": (["ask", "舟", "--corpus", "work"], 3, "There is: main"),
    "document not there": (["remove", "absent"], 3, "'absent'"),
    "one of two not there": (["remove", "599AC0000000001", "absent"], 3, "'absent'"),
    "nothing to remove": (["remove"], 2, "--all"),
    "removal unconfirmed": (["remove", "--all"], 2, "--yes"),
    "no such setting": (["config", "retrieval.kk"], 2, "'retrieval.kk'"),
    "flag without a value": (["--set", "retrieval.k", "config"], 2, "retrieval.k=20"),
    "flag of a wrong type": (["--set", "retrieval.k=x", "search", "舟"], 2, "flag: retrieval.k"),
    "home that is too long": (["--home", f"/{'h' * 5000}", "list"], 5, "--home"),
    "home of nobody": (["--home", "~nobody-of-this-name/x", "list"], 2, "~nobody-of-this-name"),
    "home not UTF-8": (["--home", "/nowhere/\udc93", "init"], 2, "--home"),
}


@each(("arguments", "code", "part"), REFUSED.values())
def test_a_malformed_request(
    cli: Cli,
    kept: Path,
    refused: Callable[..., None],
    arguments: list[str],
    code: int,
    part: str,
) -> None:
    outcome = cli(*arguments)
    refused(outcome, code, part)
    assert outcome.out == ""


def test_a_citation_of_two_laws_is_not_guessed(
    cli: Cli, kept: Path, tmp_path: Path, refused: Callable[..., None]
) -> None:
    for number in (7, 8):
        (tmp_path / f"599AC{number:010}.xml").write_text(
            '<Law Era="Reiwa" Lang="ja" LawType="Act" Num="9" Year="100">'
            f"<LawNum>令和九十九年法律第{number}号</LawNum><LawBody><LawTitle>同名法</LawTitle>"
            '<MainProvision><Article Num="1"><ArticleTitle>第一条</ArticleTitle>'
            '<Paragraph Num="1"><ParagraphNum/><ParagraphSentence><Sentence>'
            f"灯台は{number}基とする。</Sentence></ParagraphSentence></Paragraph></Article>"
            "</MainProvision></LawBody></Law>",
            encoding="utf-8",
        )
    paths = [str(path) for path in sorted(tmp_path.glob("599AC*.xml"))]
    assert cli("add", *paths).code == 0
    refused(
        cli("show", "同名法1条"), 2, "can mean 2 provisions", "599AC0000000007", "599AC0000000008"
    )
    assert cli("index").code == 0
