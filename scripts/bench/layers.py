"""Support of answers in the evidence of each multi-hop method, without and with a reader.

Questions of HotpotQA or MuSiQue over a prepared corpus, each on its own documents or, with
``--whole-corpus``, on all. The model of the workspace splits the question once for all methods
(``--split model``), the dataset splits it with right answers inserted (``--split gold``, MuSiQue),
or it is not split (``--split none``). `chain` is left out: its evidence depends on a reader.

``--home`` and ``--corpus`` name a corpus with the layers decontextualized and questions. Without
them the corpus has the questions' paragraphs, sentences are not rewritten, and no questions are
prepared.

With ``--read`` the model answers from each method's evidence, and from the supporting paragraphs
(`gold`): F1 and exact match. This compares each part of `decon` with its best: the reader with
`gold`, the split with ``--split gold``, rewritten sentences with original ones, prepared questions
with ``--threshold 1``. Unsupported answers are not withheld here.
"""

import argparse
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from bench.corpora import installed, make_searchable
from bench.options import parser
from bench.rates import rate

from localrag.answer.pieces import Piece, sentences_of
from localrag.corpus.config import Config, MethodConfig
from localrag.corpus.config import load as load_settings
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Passage
from localrag.corpus.workspace import Workspace
from localrag.evaluation.datasets.loading import load
from localrag.evaluation.measures.multihop import measure
from localrag.evaluation.statistics import score
from localrag.evaluation.types import Question
from localrag.methods import decon
from localrag.methods.answering import MethodResources
from localrag.methods.catalogue import Case
from localrag.methods.multihop import answer_from_texts, decompose, in_turn
from localrag.methods.toolkit import Toolkit
from localrag.prepare.index import index_layers
from localrag.prepare.layers import (
    DECONTEXTUALIZED,
    QUESTIONS,
    SENTENCES,
    DerivedLayer,
    LayerText,
    digest,
)
from localrag.prepare.preparing import prepare
from localrag.search.types import Filters, Query
from localrag.text.progress import ignore

Record = dict[str, Any]
"""A question as its dataset has it."""
Place = tuple[str, int, int]
"""A span of a document."""


@dataclass(frozen=True)
class LayeredQuestion:
    """A question, its parts, and what supports its answer."""

    question: Question
    parts: Sequence[Query]
    sentences: frozenset[Place]
    documents: frozenset[str]


def main() -> None:
    """Print, for each method, how much of what supports the answers it shows."""
    arguments = _arguments()
    file = arguments.data / "multihop" / f"{arguments.dataset}.json"
    records = json.loads(file.read_text(encoding="utf-8"))[: arguments.first]
    workspace, corpus = Workspace(arguments.home or arguments.work / "home"), arguments.corpus
    settings: dict[str, object] = {"method.sentences": arguments.sentences}
    if arguments.threshold is not None:
        settings["method.threshold"] = arguments.threshold
    if not arguments.home:
        corpus = f"{arguments.dataset}-unrewritten"
        workspace, made = make_searchable(arguments.work, corpus, [file], arguments.embedder)
        _unrewritten(workspace, corpus, made)
        settings["embedding.model"] = made.embedding.model
    if arguments.model:
        settings["chat.model"] = installed(workspace, arguments.model, "chat")
    config = load_settings(workspace, settings)
    with MethodResources(workspace, corpus, config) as resources:
        asked = list(_asked(arguments, workspace, corpus, resources, file, records))
        print(f"{arguments.dataset}, n = {len(asked)}, split {arguments.split}")
        print(f"{'method':<20}{'sentences':>10}  {'all paragraphs':<22}", end="")
        print(f"{'any paragraph':<22}{'all sentences':<22}of the sentences")
        readers = _KeptShown(workspace.home / f"read-{arguments.dataset}.json")
        for name, way in _methods(arguments.k).items():
            shown = [_shown(config.method, resources, one, way) for one in asked]
            answers = _read(resources, asked, shown, readers) if arguments.read else ""
            print(f"{name:<20}{_measured(asked, shown)}  {answers}".rstrip(), flush=True)
        if arguments.read:
            shown = [_supporting(resources, one) for one in asked]
            print(f"{'gold':<20}{_read(resources, asked, shown, readers)}")


def _unrewritten(workspace: Workspace, corpus: str, config: Config) -> None:
    """Use original sentences as rewritten ones."""
    list(prepare(workspace, corpus, config, [SENTENCES]))
    place = workspace.corpus(corpus)
    rewritten, questions = DerivedLayer(place, DECONTEXTUALIZED), DerivedLayer(place, QUESTIONS)
    with rewritten.opened(), questions.opened():
        if not any(True for _ in rewritten.rows()):
            for row in DerivedLayer(place, SENTENCES).standing():
                rewritten.append(row)
    with CorpusStore.open(place.store, read_only=True) as store:
        index_layers(workspace, corpus, config, store, ignore)


def _shown(
    settings: MethodConfig, resources: MethodResources, one: LayeredQuestion, way: "_Way"
) -> list[LayerText]:
    """What a method shows its reader, every sentence once."""
    case = Case(one.question.query, settings=settings)
    parts = one.parts if way.splits else [one.question.query]
    unlabelled = [(part, "") for part in parts]
    shown = way.shows(case, Toolkit(resources), unlabelled)
    return list({text.place: text for text in shown}.values())


def _measured(asked: Sequence[LayeredQuestion], shown: Sequence[Sequence[LayerText]]) -> str:
    counts: list[int] = []
    shares: list[float] = []
    all_paragraphs = any_paragraph = all_sentences = 0
    for one, texts in zip(asked, shown, strict=True):
        places = [(text.document, text.start, text.end) for text in texts]
        documents = {text.document for text in texts}
        counts.append(len(texts))
        all_paragraphs += one.documents <= documents
        any_paragraph += bool(one.documents & documents)
        if one.sentences:
            held = [any(_overlap(gold, place) for place in places) for gold in one.sentences]
            all_sentences += all(held)
            shares.append(fmean(held))
    n = len(asked)
    told = f"{fmean(counts):>10.1f}  {rate(all_paragraphs, n):<22}{rate(any_paragraph, n):<22}"
    return told + (f"{rate(all_sentences, n):<22}{fmean(shares):.3f}" if shares else "")


def _read(
    resources: MethodResources,
    asked: Sequence[LayeredQuestion],
    shown: Sequence[Sequence[LayerText]],
    kept: "_KeptShown",
) -> str:
    """F1 and exact match of the model's answer from some evidence."""
    found = []
    for one, texts in zip(asked, shown, strict=True):
        query = one.question.query
        text = kept.said(
            "\n".join([query.text, *(text.sentence for text in texts)]),
            partial(_answered, resources, query, texts),
        )
        found.append(measure(text, (), one.question))
    f1 = score([[one["f1"]] for one in found])
    assert f1 is not None
    exact = rate(sum(one["em"] == 1 for one in found), len(found))
    return f"F1 {f1.value:.3f} [{f1.low:.3f}, {f1.high:.3f}]  EM {exact}"


def _answered(resources: MethodResources, query: Query, texts: Sequence[LayerText]) -> str:
    return answer_from_texts(Toolkit(resources), query, texts).text


def _supporting(resources: MethodResources, one: LayeredQuestion) -> list[LayerText]:
    """Original sentences of the supporting paragraphs."""
    filters = Filters(documents=tuple(sorted(one.documents)))
    query = replace(one.question.query, filters=filters)
    return _passages(len(one.documents))(Case(query), Toolkit(resources), [(query, "")])


Shows = Callable[[Case, Toolkit, Sequence[tuple[Query, str]]], list[LayerText]]
"""What a method shows its reader."""


class _Way(NamedTuple):
    """Whether a method splits the question, and what it shows."""

    splits: bool
    shows: Shows


def _methods(k: int) -> dict[str, _Way]:
    return {
        "naive": _Way(False, _passages(k)),
        "naive-qd": _Way(True, _passages(k)),
        "decon-plain": _Way(False, decon.nearest_sentences),
        "decon-plain-qd": _Way(True, decon.nearest_sentences),
        "decon": _Way(True, decon.three_steps),
        "decon-hybrid": _Way(True, decon.hybrid_steps),
    }


def _passages(k: int) -> Shows:
    def shows(_: Case, toolkit: Toolkit, questions: Sequence[tuple[Query, str]]) -> list[LayerText]:
        found = [toolkit.search(one, k, words=False, meaning=True) for one, _label in questions]
        with toolkit.store() as store:
            return [
                _as_it_stands(hit.passage, piece)
                for hit in in_turn(found)
                for piece in sentences_of(store, hit.passage)
            ]

    return shows


def _as_it_stands(passage: Passage, piece: Piece) -> LayerText:
    place = (passage.document_id, piece.start, piece.end)
    return LayerText(SENTENCES, *place, digest(piece.text), passage.id, piece.text, piece.text)


def _asked(
    arguments: argparse.Namespace,
    workspace: Workspace,
    corpus: str,
    resources: MethodResources,
    file: Path,
    records: Sequence[Record],
) -> Iterator[LayeredQuestion]:
    questions = load(
        workspace,
        arguments.dataset,
        file=file,
        corpus=corpus,
        own_documents=True,
        limit=arguments.first or 0,
    ).questions
    place = workspace.corpus(corpus)
    kept = _KeptShown(workspace.home / f"split-{arguments.dataset}.json")
    with CorpusStore.open(place.store, read_only=True) as store:
        for question, record in zip(questions, records, strict=False):
            gold = frozenset(one.document for one in question.gold)
            own = question.query
            if arguments.whole_corpus:
                own = replace(own, filters=Filters())
            match arguments.split:
                case "model":
                    texts = kept.said(own.text, partial(_model_parts, resources, own))
                case "gold":
                    texts = _gold_parts(record)
                case _:
                    texts = []
            parts = [replace(own, text=text) for text in texts] or [own]
            sentences = frozenset(_gold_sentences(store, record, gold))
            yield LayeredQuestion(replace(question, query=own), parts, sentences, gold)


class _KeptShown:
    """What a model said, kept in a file: the same for every run."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}

    def said(self, to: str, say: Callable[[], Any]) -> Any:
        if to not in self._known:
            self._known[to] = say()
            self._path.write_text(json.dumps(self._known, indent=1))
        return self._known[to]


def _model_parts(resources: MethodResources, asked: Query) -> list[str]:
    return list(decompose(Toolkit(resources), asked))


def _gold_parts(record: Record) -> list[str]:
    """The steps of MuSiQue, with the answers of those before put in."""
    steps = record["question_decomposition"]
    answers = {str(number): step["answer"] for number, step in enumerate(steps, 1)}
    return [re.sub(r"#(\d)", lambda match: answers[match[1]], step["question"]) for step in steps]


def _gold_sentences(
    store: CorpusStore, record: Record, documents: frozenset[str]
) -> Iterator[Place]:
    """Supporting sentences of HotpotQA found in the documents."""
    context = dict(record.get("context", ()))
    for title, number in record.get("supporting_facts", ()):
        parts = context.get(title, ())
        if number >= len(parts):
            continue
        sentence = parts[number].strip()
        for document in documents:
            start = store.text(document).find(sentence)
            if start >= 0:
                yield document, start, start + len(sentence)
                break


def _overlap(gold: Place, place: Place) -> bool:
    """Whether a span holds most of another one."""
    shared = min(gold[2], place[2]) - max(gold[1], place[1])
    return gold[0] == place[0] and 2 * shared > gold[2] - gold[1]


def _arguments() -> argparse.Namespace:
    options = parser(__doc__, work=True, embedder=True)
    options.add_argument("--home", type=Path, help="a workspace with a prepared corpus")
    options.add_argument("--corpus", default="", help="of that workspace")
    options.add_argument("--dataset", choices=("hotpotqa", "musique"), default="musique")
    options.add_argument("--split", choices=("model", "gold", "none"), default="none")
    options.add_argument("--first", type=int, default=None, metavar="N", help="questions")
    options.add_argument("--sentences", type=int, default=3, metavar="N", help="of a sub-question")
    options.add_argument("-k", type=int, default=3, help="passages of naive and naive-qd")
    options.add_argument("--threshold", type=float, metavar="T", help="cosine (the setting)")
    options.add_argument("--whole-corpus", action="store_true")
    options.add_argument("--model", default="", help="chat model (that of the workspace)")
    options.add_argument("--read", action="store_true", help="have the model answer, too")
    return options.parse_args()


if __name__ == "__main__":
    main()
