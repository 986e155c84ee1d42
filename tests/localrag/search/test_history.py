"""States of a law through every door: shown, searched and asked as of a day, and compared."""

import json
import re
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

import localrag
from localrag.corpus.readers.statutes_json import statute_document
from localrag.errors import NotFoundError, UsageError
from localrag.search.history import Comparison
from localrag.search.history.comparing import Change, ChangeKind, compare
from localrag.text.facts import Fact, FactKind

from ..ferries import AFTER, BEFORE, FERRIES, law_xml

FIRST, SECOND = "2015-12-27", "2020-04-01"


@pytest.fixture
def corpus(home: Path, tmp_path: Path) -> localrag.Corpus:
    """The act on ferries in two states, indexed."""
    for day, amending, articles in (
        ("20151227", "000000000000000", BEFORE),
        ("20200401", "431AC0000000007", AFTER),
    ):
        path = tmp_path / "laws" / f"{FERRIES}_{day}_{amending}.xml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(law_xml(articles), encoding="utf-8")
    made = localrag.open(home).corpus()
    made.add(tmp_path / "laws")
    made.index()
    return made


def test_what_stays_open_shows_the_law_of_the_new_day(
    corpus: localrag.Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A workbench is left open overnight, or somebody sets the clock."""
    days = [date(2020, 3, 31)]

    class Clock(date):
        @classmethod
        def today(cls) -> date:
            return days[-1]

    for module in ("localrag.corpus.lookups", "localrag.search.units"):
        monkeypatch.setattr(f"{module}.date", Clock)

    def states() -> set[str]:
        hits = corpus.search("渡る舟をいう").hits
        return {corpus.store.document(hit.passage.document_id).state_id for hit in hits}

    for day, state in ((0, FIRST), (1, SECOND), (0, FIRST)):
        days.append(date(2020, 3, 31) + timedelta(days=day))
        assert states() == {f"{FERRIES}@{state}"}


def kinds(comparison: Comparison) -> list[tuple[str, str, str]]:
    def place(change: Change) -> tuple[str, str]:
        sides = (change.before, change.after)
        before, after = (side.locator.path if side else "" for side in sides)
        return before, after

    return [(change.kind.value, *place(change)) for change in comparison.changes]


def test_what_changed_is_told_by_article_and_paragraph(corpus: localrag.Corpus) -> None:
    found = corpus.diff("渡し舟法", date(2016, 1, 1), date(2020, 4, 1))
    assert [state.metadata["date"] for state in (found.before, found.after)] == [FIRST, SECOND]
    assert kinds(found) == [
        ("changed", "2", "2"),
        ("added", "", "3_2"),
        ("changed", "4", "4"),
        ("deleted", "5", "5"),
        ("moved", "6", "7"),
    ]
    (difference,) = found.changes[0].differences
    assert difference.before
    assert difference.after
    assert (difference.after.place, difference.before.text[-7:], difference.after.text[-9:]) == (
        "第一項",
        "渡る舟をいう。",
        "湖を渡る舟をいう。",
    )
    assert found.changes[4].differences == ()


def told(before: Sequence[str], after: Sequence[str]) -> list[tuple[str, str, str, str]]:
    """What became of the paragraphs of an article: kind, place, words before and after."""
    one, other = (
        statute_document(
            {
                "law_id": FERRIES,
                "title": "渡し舟法",
                "articles": [
                    {
                        "num": "8",
                        "title": "第八条",
                        "paragraphs": [
                            {"num": str(n), "text": text} for n, text in enumerate(paragraphs, 1)
                        ],
                    }
                ],
            },
            "invented",
        )
        for paragraphs in (before, after)
    )
    return [
        (
            of.kind.value,
            of.place,
            of.before.text if of.before else "",
            of.after.text if of.after else "",
        )
        for change in compare(one, other)
        for of in change.differences
    ]


HEAD = "第八条　次に掲げる者は、登録を受けることができない。"
BANKRUPT = "破産手続開始の決定を受けて復権を得ない者"
STRUCK = "前条の規定により登録を取り消され、その日から二年を経過しない者"
BODIES = "法人であつて、その役員のうちに前{}号のいずれかに該当する者があるもの"
ABROAD = "外国に住所を有し、国内における代表者又は代理人を定めていない者"


def test_an_item_that_goes_moves_those_behind_it() -> None:
    before = [BANKRUPT, STRUCK, BODIES.format("二"), ABROAD]
    after = [BANKRUPT, BODIES.format("一"), ABROAD]
    items = [
        "\n".join((HEAD, *(f"{n}　{item}" for n, item in zip("一二三四", of, strict=False))))
        for of in (before, after)
    ]
    assert told(items[:1], items[1:]) == [
        ("deleted", "第二号", f"二　{STRUCK}", ""),
        ("moved", "第三号 → 第二号", f"三　{before[2]}", f"二　{after[1]}"),
        ("moved", "第四号 → 第三号", f"四　{ABROAD}", f"三　{ABROAD}"),
    ]
    assert [kind for kind, *_ in told(items[1:], items[:1])] == ["added", "moved", "moved"]


def test_an_item_that_is_rewritten_keeps_its_place() -> None:
    before = f"{HEAD}\n一　{BANKRUPT}\n二　{STRUCK}"
    after = f"{HEAD}\n一　{BANKRUPT}\n二　削除"
    assert told([before], [after]) == [("changed", "第二号", f"二　{STRUCK}", "二　削除")]


def test_a_paragraph_put_in_moves_the_next_without_its_items() -> None:
    first, put_in = (
        "第八条　登録は、市町村長がする。",
        "登録は、三年ごとに更新を受けなければならない。",
    )
    last = f"次に掲げる者は、登録を受けることができない。\n一　{BANKRUPT}\n二　{STRUCK}"
    paragraph = last.partition("\n")[0]
    assert told([first, f"２　{last}"], [first, f"２　{put_in}", f"３　{last}"]) == [
        ("added", "第二項", "", f"２　{put_in}"),
        ("moved", "第二項 → 第三項", f"２　{paragraph}", f"３　{paragraph}"),
    ]


def test_a_number_that_one_source_leaves_out_is_not_shown() -> None:
    before, after = "市町村長は、三十日以内に登録する。", "市町村長は、六十日以内に登録する。"
    assert told([HEAD, before], [HEAD, f"２　{after}"]) == [("changed", "第二項", before, after)]


def test_very_many_lines_are_paired_by_their_places() -> None:
    before, after = (
        "\n".join((HEAD, *(f"{n:>4}番の渡し場は{kind}である。" for n in range(250))))
        for kind in ("甲", "乙")
    )
    assert {kind for kind, *_ in told([before], [after])} == {"changed"}


def test_the_days_may_come_in_any_order(corpus: localrag.Corpus) -> None:
    one, other = date(2020, 4, 1), date(2015, 12, 27)
    assert corpus.diff("渡し舟法", one, other) == corpus.diff("渡し舟法", other, one)


def test_a_day_before_the_first_state_is_no_guess(corpus: localrag.Corpus) -> None:
    with pytest.raises(NotFoundError, match="in force on 2015-12-26") as raised:
        corpus.diff("渡し舟法", date(2015, 12, 26), date(2020, 4, 1))
    assert FIRST in raised.value.cure
    with pytest.raises(NotFoundError, match="no law 'ない法'"):
        corpus.diff("ない法", date(2016, 1, 1), date(2020, 4, 1))


def test_a_provision_is_followed_through_its_states(corpus: localrag.Corpus) -> None:
    found = corpus.history("渡し舟法7条")
    assert [
        (v.state.metadata["date"], v.passage and v.passage.locator.path) for v in found.versions
    ] == [
        (FIRST, "6"),
        (SECOND, "7"),
    ]
    assert found.versions[1].change
    assert found.versions[1].change.kind is ChangeKind.MOVED
    added = corpus.history("渡し舟法3条の2")
    assert [v.passage is None for v in added.versions] == [True, False]
    same = corpus.history("渡し舟法1条")
    assert [v.change for v in same.versions] == [None, None]
    gone = corpus.as_of("2016-01-01").history("渡し舟法5条")
    assert gone.versions[1].change
    assert gone.versions[1].change.kind is ChangeKind.DELETED


def test_every_door_keeps_to_the_day(corpus: localrag.Corpus) -> None:
    question = "渡し守は何歳に達していなければならないか"
    for day, age in (
        (FIRST, "二十歳"),
        ("2020-03-31", "二十歳"),
        (SECOND, "十八歳"),
        (None, "十八歳"),
    ):
        then = corpus.as_of(day)
        assert age in then.show("渡し舟法4条").passage.text
        hits = [hit for hit in then.search(question).hits if hit.passage.locator.path == "4"]
        assert [age in hit.passage.text for hit in hits] == [True]
        answer = then.ask(question)
        assert answer.citations
        assert all(age in c.quote or "歳" not in c.quote for c in answer.citations)
        assert {c.state for c in answer.citations} == {FIRST if age == "二十歳" else SECOND}
        assert {c.followed for c in answer.citations} == {SECOND if age == "二十歳" else ""}
        assert not any(c.not_yet for c in answer.citations)
    with pytest.raises(NotFoundError):
        corpus.as_of("2016-01-01").show("渡し舟法3条の2")
    with pytest.raises(UsageError, match="'gestern' is not a date"):
        corpus.as_of("gestern")


def test_before_the_first_state_what_is_quoted_is_not_yet_in_force(corpus: localrag.Corpus) -> None:
    answer = corpus.as_of("2000-01-01").ask("渡し守は何歳に達していなければならないか")
    assert answer.citations
    assert all(citation.not_yet for citation in answer.citations)


@pytest.mark.parametrize(
    ("law_id", "made_in", "amending"),
    [
        (FERRIES, "令和九十九年", "431AC0000000007"),
        ("405AC0000000001", "平成五年", "000000000000000"),
    ],
    ids=["an amended text", "a text of a later year than the law"],
)
def test_of_an_older_law_the_corpus_has_no_earlier_state(
    home: Path,
    tmp_path: Path,
    cli: Callable[..., Any],
    law_id: str,
    made_in: str,
    amending: str,
) -> None:
    path = tmp_path / f"{law_id}_20200401_{amending}.xml"
    path.write_text(law_xml(AFTER).replace("令和九十九年", made_in), encoding="utf-8")
    made = localrag.open(home).corpus()
    made.add(path)
    made.index()
    before, later = made.as_of("2000-01-01"), made.as_of("2020-04-01")
    first = before.show("渡し舟法4条").document
    assert (first.not_yet, first.before_first) == (False, True)
    now = later.show("渡し舟法4条").document
    assert (now.not_yet, now.before_first) == (False, False)
    answer = before.ask("渡し守は何歳に達していなければならないか")
    assert answer.citations
    assert all(one.before_first and not one.not_yet for one in answer.citations)
    day = "the corpus has no text of 渡し舟法 (2020-04-01) as of 2000-01-01"
    assert day in " ".join(cli("search", "--as-of", "2000-01-01", "渡し守").err.split())
    assert "in force from 2020-04-01;" not in cli("search", "--as-of", "2020-04-01", "渡し守").err
    told = "the corpus has no state of this day; this one is in force from 2020-04-01"
    assert told in cli("show", "--as-of", "2000-01-01", "渡し舟法4条").out
    assert told in " ".join(cli("ask", "--as-of", "2000-01-01", "渡し守は何歳か").out.split())
    asked = cli("ask", "--as-of", "2000-01-01", "渡し守は何歳か", "--json").json
    assert all(one["before_first"] for one in asked["citations"])
    shown = cli("show", "--as-of", "2000-01-01", "渡し舟法4条", "--json").json
    assert shown["document"]["before_first"]
    assert (
        "コーパスにありません"
        in cli("--lang", "ja", "show", "--as-of", "2000-01-01", "渡し舟法4条").out
    )


def test_the_day_is_told_where_there_are_several_states(corpus: localrag.Corpus) -> None:
    told = [
        str(event)
        for record in corpus.as_of(FIRST).search("登録").trace.stages
        for event in record.events
    ]
    assert f"the law as of {FIRST}; its other states are not searched" in told


def test_the_command_line_takes_a_day(corpus: localrag.Corpus, cli: Callable[..., Any]) -> None:
    assert corpus.name == "main"
    shown = cli("show", "--as-of", "2016-01-01", "渡し舟法4条").out
    assert "二十歳" in shown
    assert f"in force from {FIRST}, until {SECOND}" in shown
    assert "十八歳" in cli("show", "渡し舟法4条").out
    assert (
        "not yet in force: from 2015-12-27"
        in cli("show", "--as-of", "2000-01-01", "渡し舟法4条").out
    )
    searched = cli("search", "--as-of", "2016-01-01", "渡し守 歳", "--json").json
    assert "二十歳" in json.dumps(searched, ensure_ascii=False)
    assert "十八歳" not in json.dumps(searched, ensure_ascii=False)
    refused = cli("ask", "--as-of", "1.4.2020", "登録は")
    assert (refused.code, "--as-of '1.4.2020' is not a date" in refused.err) == (2, True)
    assert (
        "retrieval.as_of = 'soon' is not valid"
        in cli("--set", "retrieval.as_of=soon", "search", "登録").err
    )


def test_history_and_diff_are_printed(corpus: localrag.Corpus, cli: Callable[..., Any]) -> None:
    assert corpus.name == "main"
    out = cli("history", "渡し舟法4条").out
    assert "2015-12-27 – 2020-04-01" in out
    assert "from 2020-04-01 on; the last text in this corpus  amended by 平成31年法律第7号" in out
    assert "- 第四条　渡し守は、二十歳に" in out
    assert "+ 第四条　渡し守は、十八歳に" in out
    versions = cli("history", "渡し舟法4条", "--json").json["versions"]
    assert [version["state"]["date"] for version in versions] == [FIRST, SECOND]
    (difference,) = versions[1]["change"]["differences"]
    assert difference["kind"] == "changed"
    assert "十八歳" in difference["after"]["text"]
    out = cli("diff", "渡し舟法", FIRST, SECOND).out
    assert "added: 第三条の二（灯火）" in out
    assert "moved: 第六条（廃業） → 第七条（廃業）" in out
    assert "deleted: " in out
    changes = cli("diff", "渡し舟法", FIRST, SECOND, "--json").json["changes"]
    assert [change["kind"] for change in changes] == [
        "changed",
        "added",
        "changed",
        "deleted",
        "moved",
    ]
    assert cli("diff", "渡し舟法", "2015", SECOND).code == 2
    assert cli("history", "渡し舟法").code != 0


def test_what_a_source_leaves_out_as_a_whole_is_told_once(
    home: Path, tmp_path: Path, cli: Callable[..., Any]
) -> None:
    enacted = "<EnactStatement>渡し舟法をここに公布する。</EnactStatement><MainProvision>"
    table = (
        "<AppdxTable><AppdxTableTitle>別表第{}</AppdxTableTitle>"
        "<RelatedArticleNum>（第三条関係）</RelatedArticleNum><Remarks><RemarksLabel>備考"
        "</RemarksLabel><Sentence>川の名による。</Sentence></Remarks></AppdxTable>"
    )
    tables = [table.format(number) for number in "一二"]
    whole = law_xml(BEFORE).replace("<MainProvision>", enacted)
    for day, text in (
        ("20151227", law_xml(BEFORE)),
        ("20180401", whole.replace("</LawBody>", "".join(tables) + "</LawBody>")),
        ("20200401", whole.replace("</LawBody>", tables[0] + "</LawBody>")),
    ):
        (tmp_path / f"{FERRIES}_{day}_000000000000000.xml").write_text(text, encoding="utf-8")
    made = localrag.open(home).corpus()
    made.add(tmp_path)
    first, second, third = date(2016, 1, 1), date(2019, 1, 1), date(2021, 1, 1)
    found = made.diff("渡し舟法", first, second)
    assert found.changes == ()
    states = {"state": FIRST, "other": "2018-04-01"}
    assert found.left_out == (
        Fact(FactKind.NO_ENACTING_CLAUSE, **states),
        Fact(FactKind.NO_APPENDICES, **states, names=("別表第一", "別表第二")),
    )
    # Where both have some, one that goes is a change.
    some = made.diff("渡し舟法", second, third)
    assert (kinds(some), some.left_out) == ([("deleted", "appendix2/", "")], ())
    out = cli("diff", "渡し舟法", "2016-01-01", "2019-01-01").out
    assert "has no appendices" in out
    assert "Nothing changed." in out
    (clause, _) = cli("diff", "渡し舟法", "2016-01-01", "2019-01-01", "--json").json["left_out"]
    assert (clause["kind"], clause["fields"]["other"]) == ("no-enacting-clause", "2018-04-01")
    versions = made.as_of("2019-01-01").history("渡し舟法別表第一").versions
    assert [version.passage is None for version in versions] == [True, False, False]


def test_a_batch_answers_as_of_a_day(
    corpus: localrag.Corpus, cli: Callable[..., Any], tmp_path: Path
) -> None:
    assert corpus.name == "main"
    rows = tmp_path / "q.jsonl"
    rows.write_text('{"id": "1", "question": "渡し守は何歳か"}\n', encoding="utf-8")
    outcome = cli("batch", "--as-of", "2016-01-01", str(rows), "--out", str(tmp_path / "a.jsonl"))
    assert outcome.code == 0
    answer = (tmp_path / "a.jsonl").read_text(encoding="utf-8")
    assert "二十歳" in answer
    assert "十八歳" not in answer


@pytest.fixture
def alone(home: Path, tmp_path: Path) -> localrag.Corpus:
    """A corpus with one law in one state, that of 2015."""
    path = tmp_path / f"{FERRIES}_20151227_000000000000000.xml"
    path.write_text(law_xml(BEFORE), encoding="utf-8")
    made = localrag.open(home).corpus()
    made.add(path)
    made.index()
    return made


def test_one_text_says_nothing_of_what_changed(
    alone: localrag.Corpus, cli: Callable[..., Any]
) -> None:
    with pytest.raises(NotFoundError, match=f"one text of 渡し舟法 for both days, dated {FIRST}"):
        alone.diff("渡し舟法", date(2015, 12, 27), date(2026, 1, 1))
    for as_json in ((), ("--json",)):
        refused = cli("diff", "渡し舟法", FIRST, "2026-01-01", *as_json)
        assert (refused.code, refused.out) == (3, "")
        assert FIRST in refused.err
    (fact,) = alone.history("渡し舟法4条").notes
    assert (fact.kind, fact.fields["days"]) == (FactKind.STATES_HELD, (FIRST,))
    followed = cli("history", "渡し舟法4条")
    assert "from 2015-12-27 on; the last text in this corpus" in followed.out
    assert "unknown" in followed.err
    assert cli("history", "渡し舟法4条", "--json").json["notes"][0]["fields"]["days"] == [FIRST]


def test_two_days_of_one_of_several_texts(corpus: localrag.Corpus) -> None:
    with pytest.raises(NotFoundError, match=f"It has the texts of: {FIRST}, {SECOND}"):
        corpus.diff("渡し舟法", date(2016, 1, 1), date(2019, 1, 1))


def test_a_comparison_with_a_day_long_after_the_last_text(corpus: localrag.Corpus) -> None:
    assert corpus.diff("渡し舟法", date(2016, 1, 1), date(2020, 5, 1)).notes == ()
    (fact,) = corpus.diff("渡し舟法", date(2016, 1, 1), date(2030, 1, 1)).notes
    assert fact.kind is FactKind.LAST_STATE
    assert (fact.fields["date"], fact.fields["day"]) == (SECOND, "2030-01-01")


@pytest.mark.parametrize(("day", "is_old"), [("2017-12-01", False), ("2018-02-01", True)])
def test_an_old_text_is_named_once(
    alone: localrag.Corpus, cli: Callable[..., Any], day: str, is_old: bool
) -> None:
    note = f"渡し舟法 ({FIRST})"
    for verb, question in (("ask", "渡し守は何歳か"), ("search", "渡し守")):
        told = cli(verb, question, "--as-of", day)
        assert told.err.count(note) == is_old
        facts = json.dumps(cli(verb, question, "--as-of", day, "--json").json["trace"])
        assert facts.count('"text-old"') == is_old
    # With a question before it is not the first answer.
    later = cli("ask", "渡し守は何歳か", "--after", "渡し舟の登録", "--as-of", day)
    assert later.err.count(note) == 0
    shown = cli("show", "渡し舟法4条", "--as-of", day)
    assert ("later amendments may be missing" in shown.out) == is_old
    assert cli("show", "渡し舟法4条", "--as-of", day, "--json").json["document"]["old"] is is_old


def test_list_and_doctor_say_how_old_laws_are(
    alone: localrag.Corpus, cli: Callable[..., Any]
) -> None:
    told = (
        "1 of 1 laws have a text more than 24 months older than .*; "
        f"the oldest is 渡し舟法 of {FIRST}"
    )
    for line in (("list",), ("list", "main")):
        assert re.search(told, cli(*line).err)
        assert cli(*line, "--json").err == ""
    (found,) = (one for one in cli("doctor", "--json").json if one["check"] == "laws main")
    assert found["health"] == "warning"
    assert re.search(told, found["detail"])
    assert found["cure"] == "localrag update FOLDER --corpus main"
