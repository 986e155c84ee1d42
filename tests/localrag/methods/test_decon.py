"""`decon` and its kin, led through every branch by prepared layers and scripted replies."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tiny_models.hashing import HashingEmbedder
from tiny_models.scripted import ScriptedChat, rewriting

from localrag.answer.types import Status
from localrag.corpus.config import ChatConfig, Config, EmbeddingConfig, MethodConfig
from localrag.corpus.ingest.add import add
from localrag.corpus.ingest.remove import remove_documents
from localrag.corpus.workspace import Workspace
from localrag.errors import UsageError
from localrag.methods.answering import Answerer
from localrag.methods.catalogue import method
from localrag.ops import batch
from localrag.prepare.layers import DECONTEXTUALIZED, QUESTIONS, DerivedLayer
from localrag.prepare.preparing import prepare
from localrag.search.indexing.index import index
from localrag.search.types import Filters, Query, Trace
from localrag.text.facts import FactKind

from ...rows import each

# Of each page, in the order of their names: its text, its sentences as rewritten, and the questions
# of the changed ones, each with its answer.
PAGES: dict[str, tuple[str, list[str], list[tuple[str, str]]]] = {
    "Bram Tully": (
        "Bram Tully was a miller. He was born in Quillmere.",
        ["Bram Tully was a miller.", "Bram Tully was born in Quillmere."],
        [("Who was born in Quillmere?", "Bram Tully")],
    ),
    "Cleo Dunn": (
        "Cleo Dunn was a poet. She was born abroad, where he was not.",
        ["Cleo Dunn was a poet.", "Cleo Dunn was born abroad, where he was not."],
        [("Who was born abroad?", "Cleo Dunn")],
    ),
    "Frost Weir": (
        "Frost Weir was long. It burned in 1880.",
        ["Frost Weir was long.", "Frost Weir burned in 1880."],
        [("Which burned in 1880?", "Frost Weir")],
    ),
    "Otter Mill": (
        "Ada Frost built the Otter Mill in 1871. She sold it to Bram Tully.",
        [
            "Ada Frost built the Otter Mill in 1871.",
            "Ada Frost sold the Otter Mill to Bram Tully.",
        ],
        [("Who sold the Otter Mill to Bram Tully?", "Ada Frost")],
    ),
    "Tully Barn": (
        "Tully Barn was red. It burned in 1880, too.",
        ["Tully Barn was red.", "Tully Barn burned in 1880, too."],
        [("What else burned, too, in 1880?", "Tully Barn")],
    ),
}
EMBEDDER = HashingEmbedder(dimension=1024, window=10_000)
BORN = Query("Where was Bram Tully born?")
BURNED = Query("What burned in 1880?")
NEEDED, NOT_NEEDED = {"needed": True}, {"needed": False}
NOTHING: dict[str, Any] = {"claims": []}
PARTS = {"questions": ["Who sold the Otter Mill to whom?", "Where was he born?"]}


def reply(text: str, *numbers: int) -> dict[str, Any]:
    return {"claims": [{"sentences": numbers, "text": text}]}


def cosine(one: str, other: str) -> float:
    first, second = EMBEDDER.embed_queries([one, other])
    return float(first @ second)


def prepared(workspace: Workspace, config: Config) -> None:
    rewritten = [
        rewriting(sentence, text)
        for page, texts, _ in PAGES.values()
        for sentence, text in zip(re.split(r"(?<=\.) ", page), texts, strict=True)
    ]
    asked = [
        {"pairs": [{"question": question, "answer": answer} for question, answer in pairs]}
        for _, _, pairs in PAGES.values()
    ]
    model = ScriptedChat(*rewritten, *map(json.dumps, asked))
    layers = (DECONTEXTUALIZED, QUESTIONS)
    reports = prepare(workspace, "main", config, layers, opener=lambda *_: model)
    assert [report.outcomes["made"] for report in reports] == [5, 5]


@pytest.fixture(scope="module")
def pages(
    tmp_path_factory: pytest.TempPathFactory,
    embedding: EmbeddingConfig,
) -> Path:
    """A workspace with `PAGES`, indexed and prepared; never write to it."""
    folder = tmp_path_factory.mktemp("pages")
    for title, (text, _, _) in PAGES.items():
        (folder / f"{title}.txt").write_text(text, encoding="utf-8")
    workspace = Workspace.locate(tmp_path_factory.mktemp("decon") / "home")
    workspace.init()
    add(workspace, "main", [folder])
    index(workspace, "main")
    prepared(workspace, Config(chat=ChatConfig(max_tokens=100), embedding=embedding))
    return workspace.home


@pytest.fixture
def copied(pages: Path, home: Path) -> Workspace:
    """The same, to be written to."""
    shutil.copytree(pages, home)
    return Workspace.locate(home)


@pytest.fixture
def ask(play: Callable[..., Any], pages: Path, embedding: EmbeddingConfig) -> Callable[..., Any]:
    def run(
        name: str,
        *replies: Any,
        query: Query = BORN,
        home: Path = pages,
        vectors: bool = True,
        **settings: Any,
    ) -> Any:
        config = Config(
            chat=ChatConfig(max_tokens=100),
            embedding=embedding if vectors else EmbeddingConfig(model="off"),
            method=MethodConfig(**settings),
        )
        return play(name, query, *replies, home=home, config=config)

    return run


def shown(played: Any) -> list[str]:
    """The pages of the sentences in the final call, in their order."""
    last = played.trace.stages[-1]
    assert last.stage == "evidence"
    return [hit.passage.document_id.removesuffix(".txt") for hit in last.hits]


def number(prompt: str, text: str) -> int:
    """The number of the sentence with a text in a prompt."""
    line = next(line for line in prompt.splitlines() if ": " in line and text in line)
    return int(line.partition(":")[0])


def facts(trace: Trace, kind: FactKind) -> int:
    return sum(fact.kind is kind for stage in trace.stages for fact in stage.events)


def purposes(played: Any) -> list[str]:
    return [call.purpose for call in played.trace.calls]


# --- The three steps ---


def test_questions_with_the_same_word_come_first_then_any_then_sentences(
    ask: Callable[..., Any],
) -> None:
    (same, _), (other, _) = PAGES["Tully Barn"][2][0], PAGES["Frost Weir"][2][0]
    same_near, other_near = cosine(BURNED.text, same), cosine(BURNED.text, other)
    assert 0.2 < same_near < other_near < 0.95, "the one with another word is nearer"
    played = ask("decon", NOT_NEEDED, NOTHING, query=BURNED, threshold=same_near - 0.01)
    assert shown(played)[:2] == ["Tully Barn", "Frost Weir"]
    prompt = played.prompts[-1]
    assert number(prompt, "Tully Barn burned in 1880, too.") == 1
    assert number(prompt, "Frost Weir burned in 1880.") == 2
    assert "\n3: " in prompt
    assert "\n4: " not in prompt, "three sentences, as the settings say"


def test_a_question_below_the_threshold_is_none(ask: Callable[..., Any]) -> None:
    (same, _), (other, _) = PAGES["Tully Barn"][2][0], PAGES["Frost Weir"][2][0]
    between = (cosine(BURNED.text, same) + cosine(BURNED.text, other)) / 2
    played = ask("decon", NOT_NEEDED, NOTHING, query=BURNED, threshold=between, sentences=1)
    assert shown(played) == ["Frost Weir"]
    stages = [stage.stage for stage in played.trace.stages]
    assert stages == [QUESTIONS, QUESTIONS, "evidence"], "what is found suffices"
    above = ask("decon", NOT_NEEDED, NOTHING, query=BURNED, threshold=1, sentences=1)
    plain = ask("decon-plain", NOTHING, query=BURNED, sentences=1)
    assert shown(above) == shown(plain), "the nearest sentence alone"
    assert [stage.stage for stage in above.trace.stages][-2:] == [DECONTEXTUALIZED, "evidence"]


def test_a_sentence_found_by_two_steps_is_shown_once(ask: Callable[..., Any]) -> None:
    asked = Query("Who was born in Quillmere?")
    played = ask("decon", NOT_NEEDED, NOTHING, query=asked, sentences=9)
    assert shown(played)[0] == "Bram Tully"
    assert played.prompts[-1].count("Bram Tully was born in Quillmere.") == 1
    assert "\n9: " in played.prompts[-1], "filled up with the nearest sentences"


def test_a_question_without_a_word_skips_the_first_step(ask: Callable[..., Any]) -> None:
    played = ask("decon", NOT_NEEDED, NOTHING, query=Query("the birthplace of Bram Tully"))
    assert [stage.stage for stage in played.trace.stages].count(QUESTIONS) == 1


def test_where_there_are_fewer_all_are_shown(ask: Callable[..., Any]) -> None:
    one = Query(BURNED.text, filters=Filters(documents=("Tully Barn.txt",)))
    played = ask("decon", NOT_NEEDED, NOTHING, query=one)
    assert shown(played) == ["Tully Barn"]
    assert "\n2: " in played.prompts[-1]
    assert "\n3: " not in played.prompts[-1]


@each("name", ["decon-plain", "decon-plain-qd", "decon", "decon-hybrid"])
def test_where_nothing_is_found_nothing_is_read(ask: Callable[..., Any], name: str) -> None:
    nowhere = Query(BORN.text, filters=Filters(documents=("Nobody.txt",)))
    before = [] if name == "decon-plain" else [NOT_NEEDED]
    played = ask(name, *before, query=nowhere)
    assert played.answer.status is Status.NOT_FOUND
    assert len(played.requests) == len(before)


# --- The calls ---


@pytest.mark.parametrize("name", ["decon-plain-qd", "decon", "decon-hybrid"])
def test_the_calls_are_those_published(ask: Callable[..., Any], name: str) -> None:
    one = method(name)
    assert (one.calls.of(0), one.calls.most(0)) == (2, 3)
    assert purposes(ask(name, NOT_NEEDED, NOTHING)) == ["decomposition need", "answer"]
    split = ask(name, NEEDED, PARTS, NOTHING)
    assert purposes(split) == ["decomposition need", "decomposition", "answer"]
    assert {"sub-question 1", "sub-question 2"} <= {s.subject for s in split.trace.stages}
    assert BORN.text in split.prompts[-1], "the question itself is answered"
    malformed = ask(name, NEEDED, "who", "{}", NOTHING)
    assert facts(malformed.trace, FactKind.NOT_DECOMPOSED) == 1
    assert malformed.prompts[-1] == ask(name, NOT_NEEDED, NOTHING).prompts[-1]


def test_the_plain_method_calls_once(ask: Callable[..., Any]) -> None:
    assert method("decon-plain").calls.most(0) == 1
    assert purposes(ask("decon-plain", NOTHING)) == ["answer"]


@pytest.mark.parametrize("text", ["", '{"claims": [{"senten', json.dumps(reply("Quillmere", 99))])
def test_a_malformed_answer_is_a_typed_failure(ask: Callable[..., Any], text: str) -> None:
    assert ask("decon", NOT_NEEDED, text, NOTHING).answer.status is Status.NOT_FOUND
    assert getattr(ask("decon", NOT_NEEDED, text, text).error, "kind", "") == "ReplyInvalid"


# --- Citations ---


@each("name", ["decon-plain", "decon-plain-qd", "decon", "decon-hybrid"])
def test_the_source_is_cited_and_never_what_was_rewritten(
    ask: Callable[..., Any], name: str
) -> None:
    before = [] if name == "decon-plain" else [NOT_NEEDED]
    prompt = ask(name, *before, NOTHING).prompts[-1]
    assert "Bram Tully was born in Quillmere." in prompt, "shown as rewritten"
    assert "He was born in Quillmere." not in prompt
    cited = number(prompt, "born in Quillmere")
    answer = ask(name, *before, reply("Quillmere", cited)).answer
    assert (answer.text, answer.status) == ("Quillmere", Status.SUPPORTED)
    (citation,) = answer.citations
    assert citation.quote == "He was born in Quillmere."
    assert citation.verified
    assert citation.passage_id.startswith("Bram Tully.txt")


def test_what_stands_in_the_rewritten_sentence_alone_is_unsupported(
    ask: Callable[..., Any],
) -> None:
    query = Query("Who sold the mill to Bram Tully?")
    prompt = ask("decon", NOT_NEEDED, NOTHING, query=query).prompts[-1]
    assert "Ada Frost built" not in prompt
    sold = number(prompt, "Ada Frost sold the Otter Mill")
    answer = ask("decon", NOT_NEEDED, reply("Ada Frost", sold), query=query).answer
    assert (answer.text, answer.status) == ("Ada Frost", Status.UNSUPPORTED)
    assert [one.quote for one in answer.citations] == ["She sold it to Bram Tully."]
    # If the sentence with her name is shown too, it supports the answer.
    more = ask("decon", NOT_NEEDED, reply("Ada Frost", sold), query=query, sentences=9).answer
    assert more.status is Status.SUPPORTED
    assert [one.quote for one in more.citations] == ["Ada Frost built the Otter Mill in 1871."]


# --- decon-hybrid ---


def test_the_hybrid_withholds_what_nothing_carries(ask: Callable[..., Any]) -> None:
    answer = ask("decon-hybrid", NOT_NEEDED, reply("Marrowdale", 1)).answer
    assert (answer.text, answer.status, answer.citations) == ("", Status.NOT_FOUND, ())
    (doubt,) = answer.doubts
    assert (doubt.kind, doubt.fields["answer"]) == (FactKind.WITHHELD, "Marrowdale")
    given = ask("decon", NOT_NEEDED, reply("Marrowdale", 1)).answer
    assert (given.text, given.status) == ("Marrowdale", Status.UNSUPPORTED)


def test_the_hybrid_gives_a_yes_and_tells_that_it_is_unsupported(ask: Callable[..., Any]) -> None:
    query = Query("Was Bram Tully born in Quillmere?")
    answer = ask("decon-hybrid", NOT_NEEDED, reply("yes", 1), query=query).answer
    assert (answer.text, answer.status) == ("yes", Status.UNSUPPORTED)


def test_the_hybrid_goes_on_from_each_sentence_to_another_document(
    ask: Callable[..., Any],
) -> None:
    one = {"query": Query("Who sold the Otter Mill?"), "sentences": 1, "threshold": 1}
    assert shown(ask("decon", NOT_NEEDED, NOTHING, **one)) == ["Otter Mill"]
    played = ask("decon-hybrid", NOT_NEEDED, NOTHING, **one)
    assert shown(played) == ["Otter Mill", "Bram Tully"], "whom the first sentence names"
    assert [stage.subject for stage in played.trace.stages][-2] == "further"
    parts = ask("decon-hybrid", NEEDED, PARTS, NOTHING, **one)
    assert "sub-question 2 further" in [stage.subject for stage in parts.trace.stages]
    assert len(parts.trace.calls) == 3, "a second hop takes no call"


def test_the_hybrid_stays_within_the_documents_asked_for(ask: Callable[..., Any]) -> None:
    mill = Query(BORN.text, filters=Filters(documents=("Otter Mill.txt",)))
    played = ask("decon-hybrid", NEEDED, PARTS, NOTHING, query=mill)
    assert shown(played) == ["Otter Mill"]


# --- Missing things ---


@pytest.mark.parametrize("name", ["decon-plain", "decon", "decon-hybrid"])
def test_without_vectors_words_stand_in_and_that_is_told(
    ask: Callable[..., Any], name: str
) -> None:
    before = [] if name == "decon-plain" else [NOT_NEEDED]
    played = ask(name, *before, NOTHING, vectors=False)
    assert facts(played.trace, FactKind.WORDS_FOR_MEANING)
    assert "Bram Tully was born in Quillmere." in played.prompts[-1]
    assert not any(stage.stage == QUESTIONS for stage in played.trace.stages), "no cosine"


def test_layers_that_are_not_prepared_are_told_before_the_first_question(
    sample: Path, cli: Callable[..., Any], tmp_path: Path
) -> None:
    said = "localrag prepare --corpus main --layers decontextualized,questions"
    model = ("--set", "chat.model=openai:none", "--set", "chat.server=http://127.0.0.1:1")
    asked = cli(*model, "ask", "--method", "decon", BORN.text)
    assert (asked.code, said in asked.err) == (2, True)
    questions, out = tmp_path / "questions.jsonl", tmp_path / "answers.jsonl"
    questions.write_text(json.dumps({"question": BORN.text, "answer": "Quillmere"}) + "\n")
    row = cli(*model, "batch", str(questions), "--method", "decon", "--out", str(out))
    assert (row.code, said in row.err) == (2, True)
    assert not out.exists(), "nothing was begun"


def test_an_evaluation_says_before_it_begins_that_layers_are_lacking(
    sample: Path, cli: Callable[..., Any], tmp_path: Path
) -> None:
    assert sample.exists()
    pytest.importorskip("scipy")
    lines = ['reader = "jemhopqa"', 'measure = "jemhopqa"', "[[splits]]", 'name = "dev"']
    described = [f'{name} = "x"' for name in ("title", "source", "licence")]
    (tmp_path / "towns.toml").write_text("\n".join([*described, *lines, 'file = "dev.json"']))
    asked = {
        "qid": "1",
        "type": "compositional",
        "question": BORN.text,
        "answer": "Quillmere",
        "derivations": [["Bram Tully", "birthplace", ["Quillmere"]]],
        "page_ids": ["1"],
        "time_dependent": False,
    }
    (tmp_path / "dev.json").write_text(json.dumps([asked]))
    added = cli("data", "add", str(tmp_path / "towns.toml"), str(tmp_path))
    assert added.code == 0, added.err
    every = ("eval", "towns", "-c", "main", "--model", "openai:none", "--dry-run", "--method")
    named = cli(*every, "decon")
    assert named.code == 2
    assert "localrag prepare --corpus main --layers decontextualized,questions" in named.err
    left_out = {one["method"]: one["cure"] for one in cli(*every, "all", "--json").json["left_out"]}
    assert left_out["decon-plain"].endswith("--layers decontextualized")


def test_methods_name_the_layers_that_they_search(cli: Callable[..., Any]) -> None:
    layers = {one["name"]: one["layers"] for one in cli("methods", "--json").json}
    assert layers["decon"] == layers["decon-hybrid"] == [DECONTEXTUALIZED, QUESTIONS]
    assert layers["decon-plain"] == [DECONTEXTUALIZED]
    assert layers["generative"] == []
    assert "localrag prepare --layers decontextualized,questions" in cli("methods").out


def test_what_changed_after_it_was_prepared_takes_no_part(
    ask: Callable[..., Any], copied: Workspace, tmp_path: Path
) -> None:
    page = tmp_path / "Bram Tully.txt"
    page.write_text("Bram Tully was a miller. He was born in Anvil, not in Quillmere.")
    remove_documents(copied, "main", [page.name])
    add(copied, "main", [page])
    index(copied, "main")
    played = ask("decon", NOT_NEEDED, NOTHING, home=copied.home, sentences=9)
    assert "Bram Tully was a miller." in played.prompts[-1], "that sentence stands as it did"
    assert "Quillmere" not in played.prompts[-1]
    assert facts(played.trace, FactKind.LAYERS_BEHIND)
    remove_documents(copied, "main", ["Bram Tully.txt"])
    for name, before in (("decon-plain", []), ("decon-hybrid", [NEEDED, PARTS])):
        gone = ask(name, *before, NOTHING, home=copied.home, sentences=9)
        assert "miller" not in gone.prompts[-1]
        assert "Bram Tully" not in shown(gone)
        assert facts(gone.trace, FactKind.LAYERS_BEHIND)


def test_statutes_are_searched_as_they_are_written_out(
    play: Callable[..., Any], sample: Path, embedding: EmbeddingConfig
) -> None:
    workspace = Workspace.locate(sample)
    config = Config(chat=ChatConfig(max_tokens=100), embedding=embedding)
    list(prepare(workspace, "main", config, [DECONTEXTUALIZED], by="statutes"))
    query = Query("渡し守の登録の有効期間は何年か。")
    played = play("decon-plain", query, NOTHING, home=sample, config=config)
    (prompt,) = played.prompts
    assert "渡し舟の安全及び活用に関する法律" in prompt
    answered = play("decon-plain", query, reply("三年", 1), home=sample, config=config).answer
    (citation,) = answered.citations
    assert citation.verified, "the law as it stands"


def test_a_title_that_stands_there_is_not_written_twice(law_home: Path, home: Path) -> None:
    shutil.copytree(law_home, home)
    workspace = Workspace.locate(home)
    list(prepare(workspace, "main", Config(), [DECONTEXTUALIZED], by="statutes"))
    rows = DerivedLayer(workspace.corpus("main"), DECONTEXTUALIZED).rows()
    made = [text.text for row in rows for text in row.texts]
    assert "凧揚げ規制法第三条第一項の許可の有効期間は、三年とする。" in made
    assert not [text for text in made if "凧揚げ凧揚げ" in text]


# --- A batch ---


@pytest.fixture
def batched(
    copied: Workspace,
    embedding: EmbeddingConfig,
    scripted: Callable[..., Any],
    tmp_path: Path,
) -> Callable[..., batch.BatchReport]:
    """Runs a batch of one row with scripted replies."""
    questions = tmp_path / "questions.jsonl"
    questions.write_text(json.dumps({"question": BORN.text}) + "\n")

    def run(name: str = "decon-plain", **settings: Any) -> batch.BatchReport:
        config = Config(
            chat=ChatConfig(max_tokens=100),
            embedding=embedding,
            method=MethodConfig(name=name, **settings),
        )

        @contextmanager
        def opener(*_: Any) -> Iterator[Answerer]:
            model = ScriptedChat(json.dumps(NOTHING))
            with scripted(copied.home, model, config) as resources:
                yield Answerer(method(name), resources, settings=config.method)

        out = tmp_path / "answers.jsonl"
        return batch.run(copied, "main", config, questions, out, opener=opener)

    return run


def test_a_batch_goes_on_with_the_same_settings_alone(
    batched: Callable[..., batch.BatchReport],
) -> None:
    batched()
    batched()
    batched(threshold=0.9)  # It looks at no prepared question.
    with pytest.raises(UsageError) as raised:
        batched(sentences=5)
    assert "method.sentences was 3 and is 5" in raised.value.cause


def test_a_batch_goes_on_with_the_same_layers_alone(
    batched: Callable[..., batch.BatchReport], copied: Workspace, embedding: EmbeddingConfig
) -> None:
    batched()
    place = copied.corpus("main")
    layer = place.layers / f"{DECONTEXTUALIZED}.jsonl"
    rows = layer.read_bytes()
    layer.write_bytes(rows.replace(b"Bram Tully was born", b"Bram Tully was reared"))
    with pytest.raises(UsageError) as raised:
        batched()
    assert "corpus.layers" in raised.value.cause
    layer.write_bytes(rows)
    shutil.rmtree(place.layer_vectors)
    with pytest.raises(UsageError) as raised:
        batched()
    assert "corpus.layers.embedder was 'tiny" in raised.value.cause
    assert "and is not set" in raised.value.cause
