"""Facts: a kind and its fields, which become words where they are shown."""

import pickle
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from catalogues import translations
from pydantic import TypeAdapter, ValidationError

from localrag import language
from localrag.text.facts import Fact, FactKind, facts_of, told

from ...rows import each


@dataclass(frozen=True, slots=True)
class Report:
    """Something that holds facts, as answers do."""

    problem: Fact | None = None
    events: tuple[Fact, ...] = ()


REPORTS = TypeAdapter(Report)
LACKING = Fact(FactKind.NO_SUCH_LAW, name="渡し舟法")


@pytest.fixture(params=translations())
def translated(request):
    language.use(request.param)
    yield
    language.use("en")


THE_SAME = (
    FactKind.SAID,
    FactKind.TO_INDEX,
    FactKind.TO_REBUILD,
    FactKind.TO_PREPARE,
    FactKind.TO_EXAMINE,
    FactKind.GPU_NAMED,
)
"""What has no words, and commands of a shell."""


@each("kind", FactKind)
def test_every_kind_has_words_in_every_language(kind, translated):
    assert language._(kind.words) != kind.words or kind in THE_SAME
    # A number can stand wherever a word can.
    assert str(Fact(kind, **dict.fromkeys(kind.fields, 1)))


def test_the_kinds_that_the_documents_explain_are_those_that_there_are():
    docs = Path(__file__).parents[3] / "docs"
    explained = {}
    for text in ("batches.md", "ja/batches.md"):
        _, _, table = (docs / text).read_text(encoding="utf-8").partition("| kind |")
        for code, meaning in re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", table, re.MULTILINE):
            kind = FactKind.of_code(code)
            assert set(re.findall("`([a-z]+)`", meaning)) <= kind.fields, code
            explained.setdefault(text, []).append(kind)
    english, japanese = explained.values()
    assert english == japanese
    assert FactKind.FILTERS_LEAVE_NOTHING in english


def test_a_fact_is_told_in_the_language_in_use():
    assert str(LACKING) == "the corpus has no law called 渡し舟法"
    several = Fact(FactKind.SEVERAL_SUBJECTS, subjects=("凪", "凪 (女優)"))
    assert str(several) == "the question can mean several subjects: 凪, 凪 (女優)"
    language.use("ja")
    try:
        assert str(LACKING) == "このコーパスに渡し舟法という法令はありません"
        assert str(several) == "質問は複数の主語を指す可能性があります：凪、凪 (女優)"
    finally:
        language.use("en")


def test_braces_in_a_field_are_shown_as_they_are():
    assert str(Fact(FactKind.NO_SUCH_LAW, name="{0}{name}")).endswith("{0}{name}")


def test_facts_are_values():
    same = Fact(FactKind.AMBIGUOUS, n=2, citation="第三条")
    assert same == Fact(FactKind.AMBIGUOUS, citation="第三条", n=2)
    assert len({same, LACKING, LACKING}) == 2
    assert same.fields == {"citation": "第三条", "n": 2}
    assert pickle.loads(pickle.dumps(LACKING)) == LACKING


def test_a_fact_needs_the_fields_of_its_kind():
    with pytest.raises(ValueError, match="name"):
        Fact(FactKind.NO_SUCH_LAW)
    with pytest.raises(ValueError, match="name"):
        Fact(FactKind.NO_SUCH_LAW, name="民法", other="刑法")


def test_facts_are_stored_with_their_kind_and_fields():
    report = Report(LACKING, (Fact(FactKind.UNSAID, words=("西", "東")),))
    text = REPORTS.dump_json(report)
    assert b'{"kind":"no-such-law","fields":{"name":"' in text
    assert REPORTS.validate_json(text) == report


def test_what_an_earlier_version_stored_in_words_is_read_as_words():
    text = '{"problem": "the quotation is empty", "events": ["{n} left out"]}'
    report = REPORTS.validate_json(text)
    assert report.problem is not None
    assert report.problem.kind is FactKind.SAID
    assert [str(event) for event in report.events] == ["{n} left out"]


def test_what_only_a_later_version_knows_is_read_as_its_words():
    later = {"kind": "of-a-later-version", "fields": {}, "words": "known later"}
    changed = LACKING.stored() | {"fields": {"law": "渡し舟法"}}
    assert told(facts_of([later, changed])) == f"known later; {LACKING}"


def test_one_fact_and_none_are_read_as_several():
    assert facts_of("one alone") == (Fact(FactKind.SAID, words="one alone"),)
    assert facts_of(None) == facts_of("") == facts_of([]) == ()
    assert REPORTS.validate_json('{"problem": ""}').problem is None


@each(
    "stored",
    [
        "7",
        "{}",
        '{"kind": "no-such-law"}',
        '{"kind": "no-such-law", "fields": {}}',
        '{"kind": "of-a-later-version", "fields": {}}',
        '{"kind": "no-such-law", "fields": {"name": {"of": []}}}',
        '{"kind": "no-such-law", "fields": {"name": [[]]}}',
        '{"kind": "ambiguous", "fields": {"citation": "第三条", "n": "two"}}',
    ],
)
def test_what_is_no_fact_is_refused(stored):
    with pytest.raises(ValidationError):
        REPORTS.validate_json(f'{{"problem": {stored}}}')
