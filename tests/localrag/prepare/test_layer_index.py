"""The index of derived layers: hits, exclusions and repairs."""

import json
import multiprocessing
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tiny_models.hashing import HashingEmbedder
from tiny_models.scripted import ScriptedChat, rewriting
from tiny_models.servers import OpenAIDouble

from localrag.corpus.config import ChatConfig, Config, EmbeddingConfig
from localrag.corpus.durable import locked
from localrag.corpus.ingest.add import add
from localrag.corpus.ingest.events import EMBEDDING
from localrag.corpus.ingest.remove import remove_documents
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag.errors import BusyError, IndexUnusable, ModelUnusable, UsageError
from localrag.prepare.index import INDEXING, LayerIndex
from localrag.prepare.layers import DECONTEXTUALIZED, QUESTIONS, SENTENCES
from localrag.prepare.preparing import prepare
from localrag.search.types import Filters
from localrag.search.units import opened_from
from localrag.text.progress import Progress
from localrag_indexes.manifest import current

from ...patience import PATIENCE

loopback = pytest.mark.usefixtures("loopback")

MILL = "Ada Frost built the Otter Mill in 1871. She sold it to Bram Tully."
LAKE = "Lake Anvil is deep. It freezes in winter."
REPLIES = (
    rewriting("Ada Frost built the Otter Mill in 1871.", "Ada Frost built the Otter Mill in 1871."),
    rewriting("She sold it to Bram Tully.", "Ada Frost sold the Otter Mill to Bram Tully."),
    rewriting("Lake Anvil is deep.", "Lake Anvil is deep."),
    rewriting("It freezes in winter.", "Lake Anvil freezes in winter."),
)
ASKED = tuple(
    json.dumps({"pairs": [{"question": question, "answer": answer}]})
    for question, answer in (
        ("Who sold the Otter Mill to Bram Tully?", "Ada Frost"),
        ("What freezes in winter?", "Lake Anvil"),
    )
)
ALL = (SENTENCES, DECONTEXTUALIZED, QUESTIONS)
CONFIG = Config(chat=ChatConfig(max_tokens=200))


@pytest.fixture
def workspace(home: Path) -> Workspace:
    folder = home / "texts"
    folder.mkdir(parents=True)
    (folder / "mill.txt").write_text(MILL)
    (folder / "sea.md").write_text(LAKE)
    workspace = Workspace.locate(home)
    add(workspace, "main", [folder])
    return workspace


@pytest.fixture
def embedder() -> HashingEmbedder:
    return HashingEmbedder(dimension=1024, window=10_000)


@pytest.fixture
def served(embedder: HashingEmbedder) -> Iterator[Config]:
    """Settings with an embedder."""
    with OpenAIDouble(embedder=embedder) as double:
        yield with_embedder(double)


def with_embedder(double: OpenAIDouble) -> Config:
    return CONFIG.model_copy(
        update={"embedding": EmbeddingConfig(model="openai:tiny", server=double.address)}
    )


def make(workspace: Workspace, config: Config, *layers: str, replies: Any = ()) -> ScriptedChat:
    model = ScriptedChat(*replies)
    list(prepare(workspace, "main", config, layers or ALL, opener=lambda *_: model))
    return model


@contextmanager
def opened(workspace: Workspace, config: Config = CONFIG) -> Iterator[Callable[..., Any]]:
    """Searches: ``find(text, layer, filters, word, words=True)`` gives texts."""
    place = workspace.corpus("main")
    with (
        CorpusStore.open(place.store, read_only=True) as store,
        LayerIndex.open(workspace, "main", config, store) as index,
    ):

        def find(
            text: str,
            layer: str = DECONTEXTUALIZED,
            filters: Filters = Filters(),  # noqa: B008
            word: str = "",
            *,
            words: bool = False,
            k: int = 9,
        ) -> list[str]:
            search = index.by_words if words else index.nearest
            return [one.found.text for one in search(store, text, k, layer, filters, word)]

        find.index = index  # type: ignore[attr-defined]
        find.store = store  # type: ignore[attr-defined]
        yield find


def state(cli: Callable[..., Any]) -> tuple[str, str, str]:
    """What ``doctor`` says of the layers: health, detail, cure."""
    checks = cli("doctor", "--json").json
    one = next(check for check in checks if check["check"] == "layers main")
    return one["health"], one["detail"], one["cure"]


@loopback
def test_layers_are_found_by_meaning_and_by_words(workspace: Workspace, served: Config) -> None:
    make(workspace, served, replies=(*REPLIES, *ASKED))
    with opened(workspace, served) as find:
        assert find("Lake Anvil freezes in winter.")[0] == "Lake Anvil freezes in winter."
        assert find("sold", words=True) == ["Ada Frost sold the Otter Mill to Bram Tully."]
        assert find("freezes", SENTENCES, words=True) == ["It freezes in winter."]
        # An unchanged sentence is in both layers.
        assert find("deep", words=True) == find("deep", SENTENCES, words=True)
        (best, *_) = find.index.nearest(
            find.store, "What freezes in winter?", 3, QUESTIONS, Filters()
        )
    assert best.score == pytest.approx(1, abs=1e-5)
    found = best.found
    assert (found.sentence, found.answer) == ("Lake Anvil freezes in winter.", "Lake Anvil")
    assert LAKE[found.start : found.end] == "It freezes in winter."
    assert best.found.place == ("sea.md", found.start)


@loopback
def test_filters_hold_for_documents_kinds_and_question_words(
    workspace: Workspace, served: Config
) -> None:
    make(workspace, served, replies=(*REPLIES, *ASKED))
    mill, prose = Filters(documents=("mill.txt",)), Filters(kinds=("markdown",))
    with opened(workspace, served) as find:
        for words in (False, True):
            assert all("Ada" in one for one in find("Ada freezes", filters=mill, words=words))
            assert all("Anvil" in one for one in find("Ada Anvil", filters=prose, words=words))
            assert find("Ada Anvil", filters=prose, words=words)
            found = find("freezes Mill", QUESTIONS, word="what", words=words)
            assert found == ["What freezes in winter?"]
        assert find("Ada", filters=Filters(documents=("gone.txt",))) == []
        assert len(find("Ada", QUESTIONS)) == 2
        assert len(find("Ada", k=1)) == 1


def test_without_an_embedder_words_find(workspace: Workspace) -> None:
    make(workspace, CONFIG, SENTENCES)
    with opened(workspace) as find:
        assert not find.index.has_vectors
        assert find("Ada", SENTENCES) == []
        assert find("Ada", SENTENCES, words=True) == ["Ada Frost built the Otter Mill in 1871."]
        assert len(list(find.index.texts(SENTENCES))) == 4


def test_a_layer_that_is_not_prepared_is_told_with_its_command(workspace: Workspace) -> None:
    with pytest.raises(UsageError) as raised, opened(workspace):
        pass
    assert "localrag prepare --corpus main --layers" in raised.value.cure
    make(workspace, CONFIG, SENTENCES)
    with opened(workspace) as find:
        find.index.require(SENTENCES)
        with pytest.raises(UsageError) as raised:
            find.index.require(SENTENCES, QUESTIONS)
    assert raised.value.cure == "localrag prepare --corpus main --layers questions"


@loopback
def test_what_is_up_to_date_is_left_alone(
    workspace: Workspace, served: Config, embedder: HashingEmbedder
) -> None:
    make(workspace, served, replies=(*REPLIES, *ASKED))
    place = workspace.corpus("main")
    before, embedded = opened_from(place), texts(embedder)
    # A sentence that is the same in two layers is embedded once.
    assert len(embedded) == len(set(embedded)) == 4 + 2 + 2
    make(workspace, served)
    assert opened_from(place) == before
    assert texts(embedder) == embedded


@loopback
def test_a_change_costs_what_has_changed_and_what_is_gone_is_not_found(
    workspace: Workspace, served: Config, embedder: HashingEmbedder
) -> None:
    make(workspace, served, SENTENCES, DECONTEXTUALIZED, replies=REPLIES)
    embedded = len(texts(embedder))
    (workspace.home / "texts" / "sea.md").write_text("Lake Anvil is deep. It dries in summer.")
    add(workspace, "main", [workspace.home / "texts"])
    with opened(workspace, served) as find:
        assert find.index.is_behind
    # Only the sentences are updated; texts of old sentences stay out of the index.
    make(workspace, served, SENTENCES)
    assert texts(embedder)[embedded:] == ["It dries in summer."]
    with opened(workspace, served) as find:
        assert not find.index.is_behind
        assert find("dries", SENTENCES, words=True) == ["It dries in summer."]
        assert find("freezes", words=True) == []
        assert len(find("Lake Anvil is deep.")) == 3
    remove_documents(workspace, "main", ["mill.txt"])
    make(workspace, served, SENTENCES)
    with opened(workspace, served) as find:
        assert find("Ada", SENTENCES, words=True) == find("Ada", words=True) == []


@loopback
def test_questions_of_a_sentence_that_is_gone_are_not_found(
    workspace: Workspace, served: Config
) -> None:
    make(workspace, served, replies=(*REPLIES, *ASKED))
    remove_documents(workspace, "main", ["mill.txt"])
    make(workspace, served, DECONTEXTUALIZED)
    with opened(workspace, served) as find:
        assert find("Who sold the Otter Mill?", QUESTIONS) == ["What freezes in winter?"]


@loopback
def test_another_embedder_makes_vectors_of_its_own(workspace: Workspace, served: Config) -> None:
    make(workspace, served, SENTENCES)
    other = HashingEmbedder(dimension=512, window=10_000)
    with OpenAIDouble(embedder=other) as double:
        config = with_embedder(double)
        with opened(workspace, config) as find:
            assert not find.index.has_vectors
        make(workspace, config, SENTENCES)
        with opened(workspace, config) as find:
            assert find("Lake Anvil is deep.", SENTENCES)[0] == "Lake Anvil is deep."
    with opened(workspace, served) as find:
        assert not find.index.has_vectors


@loopback
def test_vectors_are_for_the_texts_in_use_alone(workspace: Workspace, served: Config) -> None:
    make(workspace, served, SENTENCES)
    off = served.model_copy(update={"embedding": EmbeddingConfig(model="off")})
    make(workspace, off, SENTENCES, DECONTEXTUALIZED, replies=REPLIES)
    with opened(workspace, served) as find:
        assert not find.index.has_vectors, "of other texts"


@pytest.mark.parametrize("damage", ["cut", "changed", "gone", "manifest"])
def test_a_damaged_index_is_told_and_made_again(
    workspace: Workspace, cli: Callable[..., Any], damage: str
) -> None:
    make(workspace, CONFIG, SENTENCES)
    assert state(cli)[0] == "good"
    folder = current(workspace.corpus("main").layer_words)
    assert folder is not None
    path = folder / "texts.jsonl"
    match damage:
        case "cut":
            path.write_bytes(path.read_bytes()[:-9])
        case "changed":
            path.write_bytes(path.read_bytes().replace(b"Frost", b"\xff{}{}"))
        case "gone":
            path.unlink()
        case "manifest":
            (folder / "manifest.json").write_text("{}")
    with pytest.raises(IndexUnusable) as raised, opened(workspace) as find:
        find("Frost Ada", SENTENCES, words=True)
    assert raised.value.cure == "localrag prepare --corpus main --layers sentences"
    health, detail, cure = state(cli)
    assert (health, cure) == ("broken", raised.value.cure)
    assert detail == "the index is damaged"
    make(workspace, CONFIG, SENTENCES)
    assert state(cli)[0] == "good"
    with opened(workspace) as find:
        assert len(find("Ada", SENTENCES, words=True)) == 1


@loopback
def test_damaged_vectors_leave_the_words_and_are_made_again(
    workspace: Workspace, served: Config
) -> None:
    make(workspace, served, SENTENCES)
    folder = current(workspace.corpus("main").layer_vectors)
    assert folder is not None
    largest = max(folder.iterdir(), key=lambda path: path.stat().st_size)
    largest.write_bytes(largest.read_bytes()[:-4])
    with opened(workspace, served) as find:
        assert not find.index.has_vectors
        assert find("Ada", SENTENCES, words=True)
    make(workspace, served, SENTENCES)
    with opened(workspace, served) as find:
        assert find("Ada", SENTENCES)


def test_doctor_tells_of_layers_that_are_behind_or_damaged(
    workspace: Workspace, cli: Callable[..., Any]
) -> None:
    (workspace.home / "localrag.toml").touch()
    checks = cli("doctor", "--json").json
    assert not any(check["check"].startswith("layers") for check in checks), "there are none"
    make(workspace, CONFIG, SENTENCES)
    assert state(cli)[::2] == ("good", "")
    cure = "localrag prepare --corpus main --layers sentences"
    remove_documents(workspace, "main", ["mill.txt"])
    health, _, told = state(cli)
    assert (health, told) == ("warning", cure)
    shutil.rmtree(workspace.corpus("main").layer_words)
    assert state(cli) == ("warning", "not indexed yet", cure)
    (workspace.corpus("main").layers / f"{SENTENCES}.jsonl").write_bytes(b"{}\n{}\n")
    health, detail, _ = state(cli)
    assert health == "broken"
    assert "Line 1" in detail


def test_one_process_indexes_the_layers(workspace: Workspace) -> None:
    make(workspace, CONFIG, SENTENCES)
    remove_documents(workspace, "main", ["mill.txt"])
    with (
        locked(workspace.corpus("main").layers / "index.lock", BusyError("")),
        pytest.raises(BusyError) as raised,
    ):
        make(workspace, CONFIG, SENTENCES)
    assert "main" in str(raised.value)


@loopback
def test_where_the_embedder_fails_words_are_indexed(
    workspace: Workspace, embedder: HashingEmbedder
) -> None:
    with OpenAIDouble(embedder=embedder) as double:
        gone = with_embedder(double)
    with pytest.raises(ModelUnusable):
        make(workspace, gone, SENTENCES)
    with opened(workspace, CONFIG) as find:
        assert find("Ada", SENTENCES, words=True)


@loopback
def test_killed_while_it_embeds_it_goes_on(
    workspace: Workspace, served: Config, embedder: HashingEmbedder
) -> None:
    for number in range(5):
        sentences = [f"The {number}-{n} mill turns by the river." for n in range(40)]
        (workspace.home / "texts" / f"{number}.txt").write_text(" ".join(sentences))
    add(workspace, "main", [workspace.home / "texts"])
    context = multiprocessing.get_context("spawn")
    child = context.Process(target=_die_embedding, args=(workspace.home, served))
    child.start()
    child.join(PATIENCE)
    assert child.exitcode == -9
    with opened(workspace, served) as find:
        assert not find.index.has_vectors
        assert find("Ada", SENTENCES, words=True)
    begun = len(texts(embedder))
    assert 0 < begun < 204
    make(workspace, served, SENTENCES)
    embedded = texts(embedder)
    # The batch under way when it died may be embedded once more, and no other.
    assert len(set(embedded)) == 204
    assert len(embedded) - 204 <= 64
    with opened(workspace, served) as find:
        assert find("Lake Anvil is deep.", SENTENCES)[0] == "Lake Anvil is deep."


@loopback
def test_statutes_are_searched_in_japanese(sample: Path, served: Config) -> None:
    workspace = Workspace.locate(sample)
    list(prepare(workspace, "main", served, [DECONTEXTUALIZED], by="statutes"))
    with opened(workspace, served) as find:
        every = list(find.index.texts(DECONTEXTUALIZED))
        rewritten = [one for one in every if "渡し舟の安全及び活用に関する法律第" in one.text]
        assert rewritten
        one = rewritten[0]
        assert one.text in find(one.text, k=1)
        assert one.text in find(one.text, words=True)
        law = find.store.document(one.document)
        within = Filters(kinds=("law",), law_types=(law.metadata["law_type"],))
        assert one.text in find(one.text, filters=within)
        day = law.metadata["date"]
        for words in (False, True):
            kept = Filters(date_from=day, date_to=day)
            assert one.text in find(one.text, filters=kept, words=words)
            assert find(one.text, filters=Filters(date_from="2999-01-01"), words=words) == []


def test_each_sentence_of_a_law_without_articles_is_made_once(home: Path) -> None:
    text = "本令ハ渡シ舟ニ之ヲ適用ス"
    sentence = f'<Paragraph Num="1"><ParagraphNum/><ParagraphSentence><Sentence>{text}</Sentence>'
    paragraph = f"{sentence}</ParagraphSentence></Paragraph>"
    law = (
        '<?xml version="1.0" encoding="UTF-8"?><Law Era="Taisho" Lang="ja" LawType="ImperialOrder" '
        'Num="1" Year="2"><LawNum>大正二年勅令第一号</LawNum><LawBody><LawTitle>渡シ舟令</LawTitle>'
        f"<MainProvision>{paragraph}</MainProvision><SupplProvision><SupplProvisionLabel>附則"
        f"</SupplProvisionLabel>{paragraph}</SupplProvision></LawBody></Law>"
    )
    workspace = Workspace.locate(home)
    workspace.init()
    path = home / "202IO0000000001.xml"
    path.write_text(law, encoding="utf-8")
    add(workspace, "main", [path])
    told: list[Progress] = []
    for layer in (SENTENCES, DECONTEXTUALIZED):
        (first,) = prepare(workspace, "main", CONFIG, [layer], on_event=told.append)
        (again,) = prepare(workspace, "main", CONFIG, [layer])
        assert (first.jobs, again.made, again.earlier) == (2, 0, 2)
    indexed = [one for one in told if one.phase is INDEXING]
    assert all(0 < one.done <= one.total for one in indexed)
    with opened(workspace) as find:
        assert find("渡シ舟", SENTENCES, words=True) == [text, text]
        found = find.index.by_words(find.store, "渡シ舟", 9, SENTENCES, Filters())
    assert len({one.found.passage for one in found}) == 2


def texts(embedder: HashingEmbedder) -> list[str]:
    """The embedded texts of the layers."""
    return [text.strip() for text in embedder.embedded if not text.startswith("渡し舟の船長は、")]


def _die_embedding(home: Path, config: Config) -> None:
    def die(progress: Progress) -> None:
        if progress.phase is EMBEDDING and progress.done >= 64:
            os.kill(os.getpid(), 9)

    list(prepare(Workspace.locate(home), "main", config, [SENTENCES], on_event=die))
