"""The report: what it says, what it refuses, and that text in it stays text."""

import json
import logging
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from pydantic import TypeAdapter

from localrag.errors import InputError, NotFoundError, StorageError, WorkspaceError
from localrag.evaluation import report
from localrag.evaluation.types import Cause, Entry, Evaluation, Gold, NotMeasured, Result
from localrag.text.facts import Fact, FactKind

from ...rows import each

Evaluated = Callable[..., Evaluation]
NOTES = "Replaced, switched off or left out"
HOSTILE = "a|b`c`<b>*x*</b>\n# [l](http://x) ~~s~~ \\| &lt; _e_ $y$ \x1b[31m\u202e"


def said(words: str) -> Fact:
    return Fact(FactKind.SAID, words=words)


def written(evaluation: Evaluation, folder: Path) -> str:
    report.write(evaluation, folder)
    return (folder / report.MARKDOWN).read_text(encoding="utf-8")


def rows(text: str, section: str) -> list[list[str]]:
    """The cells of the first table of a section, without the markup."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    titles = [place for place, token in enumerate(tokens) if token.content == section]
    tokens = tokens[titles[0] :]
    start = next(place for place, token in enumerate(tokens) if token.type == "tbody_open")
    found: list[list[str]] = []
    for place, token in enumerate(tokens[start:], start):
        if token.type == "tr_open":
            found.append([])
        if token.type == "inline":
            found[-1].append("".join(child.content for child in token.children or ()))
        if tokens[place].type == "tbody_close":
            break
    return found


def as_values(evaluation: Evaluation) -> object:
    return TypeAdapter(Evaluation).dump_python(evaluation, mode="json")


def test_an_evaluation_is_read_back_as_it_was(evaluated: Evaluated, tmp_path: Path) -> None:
    evaluation = evaluated()
    report.write(evaluation, tmp_path / "run")
    assert as_values(report.load(tmp_path / "run")) == as_values(evaluation)


@pytest.mark.usefixtures("drawn")
def test_the_same_evaluation_gives_the_same_files(evaluated: Evaluated, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    report.write(evaluated(), first)
    report.write(evaluated(), second)
    names = sorted(path.name for path in first.iterdir())
    assert names == ["report.json", "report.md", "report.svg"]
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_the_order_of_the_questions_changes_no_figure(evaluated: Evaluated, tmp_path: Path) -> None:
    evaluation = evaluated()
    asked = evaluation.questions
    turned = replace(
        evaluation,
        questions=replace(asked, questions=asked.questions[::-1]),
        entries=tuple(replace(one, results=one.results[::-1]) for one in evaluation.entries),
    )
    assert written(evaluation, tmp_path / "one") == written(turned, tmp_path / "other")


def test_scores_stand_beside_published_ones_and_notes(evaluated: Evaluated, tmp_path: Path) -> None:
    text = written(evaluated(n=40, orders=1, entries=[("statute-direct", 1.0)]), tmp_path)
    first, *others = rows(text, "Scores")
    # 40 of 40: the lower end of Wilson's interval is 91.2 %.
    assert first == ["statute-direct", "40", "100.0 % [91.2, 100.0]", "0", "52.5 % (n = 40)", "(1)"]
    assert [other[0] for other in others] == [*(f"always {label}" for label in "abcd"), "chance"]
    assert rows(text, NOTES) == [["(1)", "some answers were cut", "40 of 40"]]
    assert "Method statute-direct: 52.5 % (n = 40), another model (a study)" in text
    assert "Method always-c: 34.3 %, in their order" in text


def test_entries_are_tested_in_pairs(evaluated: Evaluated, tmp_path: Path) -> None:
    evaluation = evaluated(n=20, orders=1, entries=[("x", 1.0), ("y", 0.0), ("z", 0.0)])
    text = written(evaluation, tmp_path)
    assert rows(text, "Differences") == [
        ["x − y", "+100.0", "20", "0", "< 0.001", "< 0.001"],
        ["x − z", "+100.0", "20", "0", "< 0.001", "< 0.001"],
        ["y − z", "+0.0", "0", "0", "1.000", "1.000"],
    ]
    assert "for all 3 pairs" in text


def test_groups_orders_and_positions(
    evaluated: Evaluated, answer: Callable[..., Result], tmp_path: Path
) -> None:
    base = evaluated(n=8, orders=4, entries=[])
    right = [answer(q, order, True) for q in base.questions.questions for order in range(4)]
    # Chooses what stands first, whatever it is.
    first = [
        replace(one, shown="a", chosen="abcd"[one.order], score=float(one.shown == "a"))
        for one in right
    ]
    entries = (Entry("right", "m", {}, tuple(right)), Entry("first", "m", {}, tuple(first)))
    text = written(replace(base, entries=entries), tmp_path)
    wilson = "100.0 % [67.6, 100.0]"
    assert rows(text, "Order of the options")[0] == ["right", *[wilson] * 5]
    assert rows(text, "Order of the options")[1][-1] == "0.0 % [0.0, 32.4]"
    assert [row[3] for row in rows(text, "Scores by polarity")] == [
        "25.0 % [0.0, 85.7]",
        "25.0 % [0.0, 100.0]",
    ]
    second = text.index("How often each position")
    assert "| first | 32 | 100.0 % / 25.0 % | 0.0 % / 25.0 % |" in text[second:]
    assert "| right | 32 | 25.0 % / 25.0 % |" in text[second:]


def test_recall_of_every_stage(evaluated: Evaluated, tmp_path: Path) -> None:
    text = written(evaluated(n=20, orders=1, entries=[("x", 1.0)]), tmp_path)
    found, none = "100.0 % [72.2, 100.0]", "0.0 % [0.0, 27.8]"
    # Half of the questions have gold; the first stage ranks it third, the second seventh.
    assert rows(text, "Retrieval") == [
        ["x", "lexical", "10", found, found, found, found],
        ["x", "rerank", "10", none, none, found, found],
    ]


@pytest.mark.parametrize(("embedder", "said"), [("", True), ("e5-small", False)])
def test_what_stands_in_for_search_by_meaning_is_said(
    evaluated: Evaluated, tmp_path: Path, embedder: str, said: bool
) -> None:
    text = written(evaluated(**{"embedding.model": embedder}), tmp_path)
    assert ("No embedder was named: statute-direct, statute-fixed" in text) is said


def test_notes_on_single_questions_do_not_hide_the_others(
    evaluated: Evaluated, tmp_path: Path
) -> None:
    evaluation = evaluated(n=20, orders=1, entries=[("x", 0.5)])
    (entry,) = evaluation.entries
    noted = tuple(
        replace(one, notes=(*one.notes, said(f"only here: {one.question}")))
        for one in entry.results
    )
    text = written(replace(evaluation, entries=(replace(entry, results=noted),)), tmp_path)
    assert rows(text, "Scores")[0][-1] == "(1)"
    assert rows(text, NOTES) == [["(1)", "some answers were cut", "20 of 20"]]
    assert "In the JSON only: 20 notes on less than 5 % of the answers" in text


def test_what_is_said_of_other_provisions_each_time_is_counted_together(
    evaluated: Evaluated, tmp_path: Path
) -> None:
    evaluation = evaluated(n=40, orders=1, entries=[("x", 0.5), ("y", 0.5)])
    first, second = evaluation.entries
    noted = tuple(
        replace(
            one,
            notes=(
                *(said(f"switched off: {number}") for number in range(7)),
                Fact(FactKind.SHORTENED, place=f"{n}条", characters=9_500, shown=1_000 + n),
                Fact(FactKind.PASSAGES_LEFT_OUT, n=n, total=50, places=(f"{n}条",)),
                Fact(FactKind.NO_SUCH_PROVISION, citation=f"第{n}条"),
                Fact(FactKind.NO_RERANKER),
            ),
        )
        for n, one in enumerate(first.results[:4], 1)
    )
    first = replace(first, results=(*noted, *first.results[4:]))
    text = written(replace(evaluation, entries=(first, second)), tmp_path)
    found = {note: holds for _, note, *holds in rows(text, NOTES)}
    # Seven notes on a tenth of the answers hide none of the others.
    assert [found[f"switched off: {number}"] for number in range(7)] == [["4 of 40", "–"]] * 7
    assert found["some answers were cut"] == ["36 of 40", "40 of 40"]
    assert found["…: the law has no such provision"] == ["4 of 40", "–"]
    assert found[str(Fact(FactKind.NO_RERANKER))] == ["4 of 40", "–"]
    assert len(found) == 12
    exact = report.load(tmp_path).entries[0].results[0].notes
    assert Fact(FactKind.NO_SUCH_PROVISION, citation="第1条") in exact


def test_depths_that_no_list_reaches_have_no_figure(evaluated: Evaluated, tmp_path: Path) -> None:
    evaluation = evaluated(n=20, orders=1, entries=[("x", 1.0)])
    (entry,) = evaluation.entries
    held = tuple(replace(one, lengths={"lexical": 5, "rerank": 9}) for one in entry.results)
    text = written(replace(evaluation, entries=(replace(entry, results=held),)), tmp_path)
    lexical, rerank = rows(text, "Retrieval")
    assert lexical[-2:] == ["–", "–"]
    assert "–" not in rerank


def test_caveats_of_the_dataset_stand_under_the_scores(
    evaluated: Evaluated, tmp_path: Path
) -> None:
    evaluation = evaluated()
    dataset = replace(evaluation.questions.dataset, caveats=("The corpus holds the answers.",))
    asked = replace(evaluation.questions, dataset=dataset)
    text = written(replace(evaluation, questions=asked), tmp_path)
    assert "- Of the dataset: The corpus holds the answers." in text[: text.index(NOTES)]


def test_what_is_not_known_of_a_model_is_said(evaluated: Evaluated, tmp_path: Path) -> None:
    known = {"chat.quantisation": "Q4_K_M", "chat.weights": "x@1", "chat.context": 0}
    embedder = {"embedding.model": "ollama:e5", "reranking.model": "r", "reranking.weights": "r@1"}
    found = dict(rows(written(evaluated(**known, **embedder), tmp_path), "Made with"))
    assert found["chat.quantisation"] == "Q4_K_M"
    assert found["chat.context"] == "0 (what the model has, at most 8,192)"
    assert found["embedding.quantisation"] == "not told by the server"
    assert found["reranking.quantisation"] == "not told by the file"


def test_what_the_corpus_lacks_is_counted(evaluated: Evaluated, tmp_path: Path) -> None:
    evaluation = evaluated(n=20, orders=1, entries=[("x", 1.0)])
    asked = {one.id: one for one in evaluation.questions.questions}
    two = replace(asked["q3"], gold=(Gold("渡し舟法", "3"), Gold("渡し舟法", "99")))
    lacking = {"q1": asked["q1"].gold, "q3": two.gold[1:]}
    questions = replace(evaluation.questions, questions=tuple({**asked, "q3": two}.values()))
    text = written(replace(evaluation, questions=questions, lacking=lacking), tmp_path)
    assert (
        "Of the 10 questions with gold provisions, the corpus has none of them for 1, and only "
        "some for 1 more" in text
    )
    assert report.load(tmp_path).lacking == lacking


def test_what_has_no_results_is_named(evaluated: Evaluated, tmp_path: Path) -> None:
    stopped = (NotMeasured("x (dead)", "Nobody answers.", "Start it."),)
    text = written(replace(evaluated(), not_measured=stopped), tmp_path)
    section = text[text.index("## Not measured") :]
    assert "- Entry x (dead): Nobody answers. Start it." in section
    assert report.load(tmp_path).not_measured == stopped


def test_failures_that_may_pass_are_told(evaluated: Evaluated, tmp_path: Path) -> None:
    evaluation = evaluated(n=20, orders=1, entries=[("x", 1.0)])
    (entry,) = evaluation.entries
    first, *others = entry.results
    failed = replace(first, score=0.0, failure="ServerUnreachable", transient=True)
    entry = replace(entry, results=(failed, *others))
    text = written(replace(evaluation, entries=(entry,)), tmp_path)
    assert "1 failure may be gone by now" in text


def test_questions_of_a_user_are_called_so(evaluated: Evaluated, tmp_path: Path) -> None:
    evaluation = evaluated()
    dataset = replace(evaluation.questions.dataset, title="own questions: x.jsonl", source="")
    own = replace(evaluation.questions, dataset=dataset, own=True, split="x.jsonl")
    text = written(replace(evaluation, questions=own), tmp_path)
    assert "Questions: own questions: x.jsonl: 20 questions" in text
    assert "- file: x.jsonl" in text
    assert "- source" not in text


def test_a_report_that_is_there_is_not_drawn_again(
    evaluated: Evaluated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[object] = []
    monkeypatch.setattr(
        "localrag.evaluation.report.plotted", lambda found: drawn.append(found) or "<svg/>"
    )
    for evaluation in (evaluated(), evaluated(), evaluated(seed=1), evaluated(seed=1)):
        report.write(evaluation, tmp_path)
    assert len(drawn) == 2
    (tmp_path / report.MARKDOWN).unlink()
    report.write(evaluated(seed=1), tmp_path)
    assert (tmp_path / report.MARKDOWN).exists()


def test_costs(evaluated: Evaluated, tmp_path: Path) -> None:
    text = written(evaluated(n=4, orders=1, entries=[("x", 1.0)]), tmp_path)
    assert rows(text, "Costs") == [["x", "4", "1.00", "0", "100", "20", "10", "0.5", "0.5"]]


def test_when_every_answer_failed(
    evaluated: Evaluated, answer: Callable[..., Result], tmp_path: Path
) -> None:
    base = evaluated(n=8, orders=2, entries=[])
    failed = tuple(
        answer(q, order, False, failed=True) for q in base.questions.questions for order in (0, 1)
    )
    text = written(replace(base, entries=(Entry("x", "x", {}, failed),)), tmp_path)
    assert rows(text, "Scores")[0][1:4] == ["8", "0.0 % [0.0, 32.4]", "16"]
    assert rows(text, "Failed answers") == [["x", "16"]]
    assert rows(text, "Why answers are wrong") == [["x", "16", "0", "0", "0", "16", "0"]]


def test_every_cause_is_counted(
    evaluated: Evaluated, answer: Callable[..., Result], tmp_path: Path
) -> None:
    base = evaluated(n=len(Cause), orders=1, entries=[])
    results = tuple(
        replace(answer(question, 0, False), cause=cause)
        for question, cause in zip(base.questions.questions, Cause, strict=True)
    )
    text = written(replace(base, entries=(Entry("x", "x", {}, results),)), tmp_path)
    assert rows(text, "Why answers are wrong") == [["x", "5", "1", "1", "1", "1", "1"]]
    assert "- Reasoning wrong, or nothing was searched: gold was at hand too, the" in text


def test_scores_between_0_and_1_get_no_mcnemar(evaluated: Evaluated, tmp_path: Path) -> None:
    evaluation = evaluated(n=4, orders=1)
    graded = tuple(
        replace(one, results=tuple(replace(result, score=0.5) for result in one.results))
        for one in evaluation.entries
    )
    text = written(replace(evaluation, entries=graded), tmp_path)
    assert rows(text, "Differences") == [
        ["statute-direct − statute-fixed", "+0.0 [−100.0, +100.0]", *"––––"]
    ]


def test_what_entries_share_is_told_apart_from_what_they_do_not(
    evaluated: Evaluated, tmp_path: Path
) -> None:
    text = written(evaluated(corpus="lawqa", flag=True, nothing=None), tmp_path)
    shared = rows(text, "Made with")
    assert shared == [
        ["chat.model", "qwen3-8b"],
        ["chat.quantisation", "not told by the server"],
        ["corpus", "lawqa"],
        ["flag", "true"],
        ["localrag", "0.4.0"],
        ["nothing", "–"],
    ]
    assert "| method | statute-direct | statute-fixed |" in text


@each(
    ("n", "entries"),
    [(0, []), (0, [("x", 1.0)]), (3, []), (1, [("x", 1.0)]), (1, [("x", 0.0), ("y", 1.0)])],
)
def test_next_to_nothing_is_reported_all_the_same(
    evaluated: Evaluated, tmp_path: Path, n: int, entries: list[tuple[str, float]]
) -> None:
    evaluation = evaluated(n=n, orders=1, entries=entries)
    said = "1 question," if n == 1 else f"{n} questions,"
    assert said in written(evaluation, tmp_path)
    assert as_values(report.load(tmp_path)) == as_values(evaluation)


@pytest.mark.usefixtures("drawn")
def test_text_never_becomes_markup(evaluated: Evaluated, tmp_path: Path) -> None:
    evaluation = evaluated(entries=[(HOSTILE, 0.5), ("判例 日本語", 0.5)], **{HOSTILE: HOSTILE})
    asked = evaluation.questions
    hostile = replace(
        evaluation,
        id=HOSTILE,
        machine=HOSTILE,
        questions=replace(
            asked,
            split=HOSTILE,
            dataset=replace(asked.dataset, title=HOSTILE, source=HOSTILE),
            questions=tuple(replace(one, groups={HOSTILE: HOSTILE}) for one in asked.questions),
        ),
        entries=tuple(
            replace(one, results=tuple(replace(r, notes=(said(HOSTILE),)) for r in one.results))
            for one in evaluation.entries
        ),
    )
    text = written(hostile, tmp_path)
    shown = "a|b`c`<b>*x*</b> # [l](http://x) ~~s~~ \\| &lt; _e_ $y$ ␛[31m<U+202E>"
    assert rows(text, "Scores")[0][0] == shown
    html = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)
    for tag in ("<b>", "<code>", "<a ", "<s>"):
        assert tag not in html
    # Ours alone: five baselines in italics.
    assert html.count("<em>") == 5
    plot = (tmp_path / report.PLOT).read_text(encoding="utf-8")
    assert "判例 日本語" in plot
    ElementTree.fromstring(plot)
    assert as_values(report.load(tmp_path)) == as_values(hostile)


@pytest.mark.usefixtures("drawn")
def test_without_matplotlib_the_plot_alone_is_missing(
    evaluated: Evaluated,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.delitem(sys.modules, "localrag.evaluation.report", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(logging.getLogger("localrag"), "propagate", True)
    text = written(evaluated(), tmp_path)
    assert "The plot was left out" in caplog.text
    assert "report.svg" not in text
    assert "pip install 'localrag\\[eval\\]'" in text
    assert not (tmp_path / report.PLOT).exists()
    assert (tmp_path / report.JSON).exists()


@each(
    ("spoil", "message"),
    [
        (lambda r: r[:-3], "3 of 40 results of 'statute-direct' are missing, such as 'q18'"),
        (lambda r: (*r, r[0]), "a result too many: 'q0' in order 0"),
        (lambda r: (*r, replace(r[0], question="other")), "a result too many: 'other'"),
        (lambda r: (replace(r[0], score=1.5), *r[1:]), "scores 1.5 on 'q0'"),
        (lambda r: (replace(r[0], score=float("nan")), *r[1:]), "scores nan on 'q0'"),
    ],
)
def test_results_that_are_not_complete_are_refused(
    evaluated: Evaluated,
    tmp_path: Path,
    spoil: Callable[[tuple[Result, ...]], tuple[Result, ...]],
    message: str,
) -> None:
    evaluation = evaluated()
    first, *others = evaluation.entries
    spoiled = replace(first, results=spoil(first.results))
    with pytest.raises(InputError, match=message):
        report.write(replace(evaluation, entries=(spoiled, *others)), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_entries_of_the_same_name_are_refused(evaluated: Evaluated, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="2 entries of first are named 'x'"):
        report.write(evaluated(entries=[("x", 0.5), ("x", 0.5)]), tmp_path)


def test_half_of_a_surrogate_pair_is_refused(evaluated: Evaluated, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Unicode"):
        report.write(evaluated(run="a\ud800b"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_folder_without_a_report(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="holds no report"):
        report.load(tmp_path)


@pytest.mark.parametrize("spoil", [lambda t: t[: len(t) // 2], lambda t: "{}", lambda t: ""])
def test_a_damaged_report(
    evaluated: Evaluated, tmp_path: Path, spoil: Callable[[str], str]
) -> None:
    report.write(evaluated(), tmp_path)
    path = tmp_path / report.JSON
    path.write_text(spoil(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(WorkspaceError, match="cannot be read"):
        report.load(tmp_path)


def test_a_report_of_another_version(evaluated: Evaluated, tmp_path: Path) -> None:
    report.write(evaluated(), tmp_path)
    path = tmp_path / report.JSON
    value = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**value, "format": 99}), encoding="utf-8")
    with pytest.raises(WorkspaceError, match="another version"):
        report.load(tmp_path)


def test_a_folder_that_cannot_be_written(evaluated: Evaluated, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file")
    with pytest.raises(StorageError, match="cannot be written"):
        report.write(evaluated(), tmp_path / "run")


def test_the_json_holds_the_figures(evaluated: Evaluated, tmp_path: Path) -> None:
    report.write(evaluated(n=8, orders=1, entries=[("x", 1.0)]), tmp_path)
    value = json.loads((tmp_path / report.JSON).read_text(encoding="utf-8"))
    (entry,) = value["figures"]["entries"]
    assert entry["score"] == {
        "value": 1.0,
        "low": pytest.approx(0.6756, abs=1e-4),
        "high": 1.0,
        "n": 8,
    }
    assert value["figures"]["baselines"][-1]["name"] == "chance"
