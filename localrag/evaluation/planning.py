"""What an evaluation asks: methods, their settings, and the folders of their answers."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import get_args

import localrag
from localrag.answer import prompts
from localrag.corpus.config import Config
from localrag.corpus.inference.opening import server_of
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import CorpusPaths, Workspace
from localrag.errors import IndexUnusable, LocalragError, NotFoundError, UsageError
from localrag.evaluation import places
from localrag.evaluation.datasets.loading import corpus_name, parts_of_corpus
from localrag.evaluation.measures import MEASURES, Measure
from localrag.evaluation.recall import document_of, ranks
from localrag.evaluation.types import MOST, Gold, NotMeasured, Question, Questions
from localrag.language import N_
from localrag.methods.catalogue import NAMES, Method, method
from localrag.methods.staged import StagedSettings, Stages
from localrag.ops.batch.origin import Origin, origin_of, weights
from localrag.prepare.index import require_layers
from localrag.search.types import Query
from localrag.text.facts import Fact, FactKind

ALL = "all"
"""Every method that can run."""

# Rooms with code for answers. After a change in one, all questions are asked again.
_ROOMS = ("text", "corpus", "law", "search", "answer", "prepare", "methods")
# A batch may continue with wider bounds; an evaluation needs equal ones.
_BOUNDS = ("context", "max_tokens")
_HERE = Path(__file__).parent
_PROMPTS = Path(prompts.__file__).parent
# Settings that verdicts depend on, besides the model.
_OF_JUDGES = ("temperature", "seed", "max_tokens", "context")


@dataclass(frozen=True, slots=True)
class Setup:
    """A method and its settings; an entry of the report."""

    name: str
    method: Method
    config: Config  # settings, with the method and its model
    made_with: Origin  # everything the answers depend on, by dotted name
    # of the answers, named after a hash of `made_with`; runs with equal settings share it
    folder: Path


@dataclass(frozen=True, slots=True)
class Judge:
    """A model for judging answers."""

    name: str
    config: Config
    made_with: Origin  # everything its verdicts depend on, by dotted name

    def journal(self, answers: Path) -> Path:
        """File of its verdicts on the answers in a folder."""
        return answers / f"verdicts-{fingerprint(self.made_with)}.jsonl"


@dataclass(frozen=True, slots=True)
class Plan:
    """What an evaluation asks."""

    workspace: Workspace
    corpus: str
    config: Config
    questions: Questions  # all of the split; their order is the order of rows
    n: int
    orders: int  # orders of options in which each is asked
    setups: tuple[Setup, ...]  # one for each entry, in the order requested
    measure: Measure
    left_out: tuple[NotMeasured, ...] = ()  # methods that ``all`` does not include here
    # by question, gold places missing from the corpus; only if a method searches
    lacking: Mapping[str, tuple[Gold, ...]] = field(default_factory=dict)
    judge: Judge | None = None  # None if only code gives verdicts

    @property
    def asked(self) -> tuple[Question, ...]:
        """The first `n` questions."""
        return self.questions.questions[: self.n]


def plan(
    workspace: Workspace,
    questions: Questions,
    corpus: str,
    config: Config,
    methods: Sequence[str],  # their names; `ALL` for each that can run
    *,
    models: Sequence[str] = (),
    stages: Sequence[str] = (),
    judge: str = "",  # chat model; "" for none
    synonyms: Sequence[Path] = (),
    orders: int = 1,  # orders of options, 1 to `MOST`
    limit: int = 0,  # questions from the first; 0 for all
) -> Plan:
    """Plan an evaluation; opens no model and writes nothing.

    Each of `models` is an entry for every method with a model, each of `stages` one for every
    staged method. Without any, the settings decide.
    """
    _require_questions(questions, methods, orders, limit)
    _check_stages(stages)
    models = tuple(dict.fromkeys(models or (config.chat.model,)))
    chosen, left_out = _chosen(methods, questions, models, workspace.corpus(corpus))
    searching = any(one.searches for one in chosen)
    if searching and not workspace.corpus(corpus).store.exists():
        raise _no_corpus(questions, corpus)
    usual = (StagedSettings.of(config.method).stages,)
    staged = _stages(stages, chosen) or usual
    setups = [
        _setup(
            workspace,
            questions,
            corpus,
            _settings(config, one, model, order),
            # Distinguishes the entries of a method.
            _joined(
                one.name,
                order if one.staged and len(staged) > 1 else "",
                f"({model})" if model and len(models) > 1 else "",
            ),
        )
        for one in chosen
        for model in (models if one.needs_model else ("",))
        for order in (staged if one.staged else usual)
    ]
    n = min(limit or len(questions.questions), len(questions.questions))
    missing = _missing(workspace.corpus(corpus), questions.questions[:n]) if searching else {}
    measure = MEASURES[questions.dataset.measure](synonyms)
    return Plan(
        workspace,
        corpus,
        config,
        questions,
        n,
        orders,
        tuple(setups),
        measure,
        tuple(left_out),
        missing,
        _judge(workspace, config, judge, measure) if judge else None,
    )


def _missing(place: CorpusPaths, questions: Sequence[Question]) -> Mapping[str, tuple[Gold, ...]]:
    with CorpusStore.open(place.store, read_only=True) as store:
        return lacking(store, questions)


def _require_questions(
    questions: Questions, methods: Sequence[str], orders: int, limit: int
) -> None:
    if not 1 <= orders <= MOST or limit < 0:
        raise UsageError(
            N_("{orders} orders of {limit} questions cannot be asked."),
            N_("Ask 1 to {most} orders; leave out the limit to ask all questions."),
            orders=orders,
            limit=limit,
            most=MOST,
        )
    if orders > 1 and not any(one.query.options for one in questions.questions):
        raise UsageError(
            N_("The questions have no options to show in {orders} orders."),
            Fact(FactKind.TO_LEAVE_ORDERS),
            orders=orders,
        )
    if not methods:
        raise UsageError(
            N_("No methods to evaluate are named."),
            N_("Name them with --method, or: --method all"),
        )


def _no_corpus(questions: Questions, corpus: str) -> NotFoundError:
    return NotFoundError(
        N_("There is no corpus {corpus!r} for the methods to search."),
        N_("Bring it in: localrag data add {corpus} FOLDER. Or name another one with --corpus.")
        if corpus == corpus_name(questions.dataset) and parts_of_corpus(questions.dataset)
        else N_(
            "Add documents: localrag add PATH --corpus {corpus}. Or name another one with --corpus."
        ),
        corpus=corpus,
    )


def _chosen(
    methods: Sequence[str], questions: Questions, models: Sequence[str], place: CorpusPaths
) -> tuple[list[Method], list[NotMeasured]]:
    every = ALL in methods
    chosen: list[Method] = []
    left_out: list[NotMeasured] = []
    for name in NAMES if every else dict.fromkeys(methods):
        one = method(name)
        hindrance = _hindrance(one, questions, models, place)
        if hindrance is None:
            chosen.append(one)
        elif every:
            left_out.append(NotMeasured(name, hindrance.cause, hindrance.cure))
        else:
            raise hindrance
    return chosen, left_out


def _hindrance(
    one: Method, questions: Questions, models: Sequence[str], place: CorpusPaths
) -> LocalragError | None:
    """Why a method cannot run here; None if it can."""
    has_options = any(question.query.options for question in questions.questions)
    leave_out = N_("Leave it out.")
    if has_options and not one.chooses:
        return UsageError(
            N_("{method} chooses between no options, and the questions have some."),
            leave_out,
            method=one.name,
        )
    if one.chooses and not has_options:
        return UsageError(
            N_("{method} chooses between options, and the questions have none."),
            leave_out,
            method=one.name,
        )
    if one.checks != questions.are_claims:
        return UsageError(
            N_("{method} checks claims, and these are questions.")
            if one.checks
            else N_("{method} gives no verdict, and these are claims to be checked."),
            leave_out,
            method=one.name,
        )
    if one.needs_model and not all(models):
        return UsageError(
            N_("{method} needs a writing model, and none is named."),
            Fact(FactKind.TO_NAME_MODEL),
            method=one.name,
        )
    if one.reads_context and not any(one.context for one in questions.questions):
        return UsageError(
            N_("{method} is given the texts that answer a question, and the dataset has none."),
            leave_out,
            method=one.name,
        )
    if one.reads_context and (alike := _alike(questions.questions)):
        first, second = alike
        return UsageError(
            N_(
                "{method} is given the texts that answer a question, and {first!r} and {second!r} "
                "are the same question with different texts."
            ),
            N_("Leave one of the two questions out of the file, or the method."),
            method=one.name,
            first=first.id,
            second=second.id,
        )
    # A missing corpus is reported once for all methods.
    if place.store.exists():
        try:
            require_layers(place, one.layers)
        except (UsageError, IndexUnusable) as error:
            return error
    return None


def _alike(questions: Iterable[Question]) -> tuple[Question, Question] | None:
    first: dict[Query, Question] = {}
    for question in questions:
        if first.setdefault(question.query, question).context != question.context:
            return first[question.query], question
    return None


def _check_stages(orders: Sequence[str]) -> None:
    known = get_args(Stages)
    for order in orders:
        if order not in known:
            raise UsageError(
                N_("There is no order of stages {order!r}."),
                N_("There is: {names} (1 triples, 2 documents, 3 the model alone)."),
                order=order,
                names=", ".join(known),
            )


def _stages(orders: Sequence[str], methods: Iterable[Method]) -> tuple[str, ...]:
    if orders and not any(one.staged for one in methods):
        raise UsageError(
            N_("None of these methods asks in stages."),
            N_("Leave out --stages, or name a method that does: localrag methods"),
        )
    return tuple(dict.fromkeys(orders))


def _judge(workspace: Workspace, config: Config, model: str, measure: Measure) -> Judge:
    if measure.verdict is None and not measure.rated:
        raise UsageError(
            N_("Answers to these questions are measured without a judge."),
            Fact(FactKind.TO_LEAVE_JUDGE),
        )
    own = config.model_copy(update={"chat": config.chat.model_copy(update={"model": model})})
    chat = own.chat
    judges = (_HERE / "judging.py", _HERE / "rating.py", *_HERE.glob("measures/*.py"))
    # Verdicts of earlier versions were written without thought.
    thought = () if chat.thinking == "off" else ("thinking", "effort")
    made_with = {
        "judge.model": model,
        **{f"judge.{name}": getattr(chat, name) for name in (*_OF_JUDGES, *thought)},
        **server_of("judge", chat),
        **{
            name.replace("chat.", "judge."): value
            for name, value in weights(workspace, own, "chat").items()
        },
        "judge.prompts": _digest_of(_PROMPTS, _PROMPTS.glob("judge_*.jinja")),
        "judge.code": _digest_of(_HERE, judges),
    }
    return Judge(model, own, made_with)


def _settings(config: Config, one: Method, model: str, stages: str) -> Config:
    prompt = config.method.query_prompt if one.writes_queries else ""
    return config.model_copy(
        update={
            "method": config.method.model_copy(
                update={"name": one.name, "query_prompt": prompt, "stages": stages}
            ),
            "chat": config.chat.model_copy(update={"model": model}),
        }
    )


def _joined(*words: str) -> str:
    return " ".join(filter(None, words))


def _setup(
    workspace: Workspace, questions: Questions, corpus: str, own: Config, name: str
) -> Setup:
    one = method(own.method.name)
    made_with = {
        **origin_of(workspace, corpus, own),
        "code": _code(),
        "dataset": questions.dataset.name,
        "dataset.split": questions.split,
        "dataset.sha256": questions.sha256,
    }
    if questions.own_documents:
        made_with["dataset.documents"] = "own"
    if questions.unanswerable:
        made_with["dataset.unanswerable"] = "added"
    if one.needs_model:
        made_with |= {f"chat.{bound}": getattr(own.chat, bound) for bound in _BOUNDS}
        made_with |= server_of("chat", own.chat)
    if one.searches:
        made_with |= server_of("embedding", own.embedding)
    return Setup(
        name=name,
        method=one,
        config=own,
        made_with=made_with,
        folder=places.answers(workspace, questions.dataset.name, fingerprint(made_with)),
    )


def _digest_of(root: Path, files: Iterable[Path]) -> str:
    """Digest of the names below `root` and the content of files."""
    found = sha256()
    for path in sorted(files):
        name = path.relative_to(root).as_posix()
        found.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:16]


def fingerprint(made_with: Origin) -> str:
    """A short digest of settings, for the name of a file."""
    written = json.dumps(made_with, ensure_ascii=False, sort_keys=True)
    return sha256(written.encode()).hexdigest()[:16]


@cache
def _code() -> str:
    """Digest of the code behind the answers."""
    root = Path(localrag.__file__).parent
    files = (path for room in _ROOMS for path in (root / room).rglob("*"))
    return _digest_of(root, (path for path in files if path.is_file() and path.suffix != ".pyc"))


def lacking(store: CorpusStore, questions: Iterable[Question]) -> dict[str, tuple[Gold, ...]]:
    """Gold places missing from a corpus, by id of the question. Raises `StoreError`."""
    asked = [question for question in questions if question.gold]
    if not asked:
        # A corpus may have a million documents.
        return {}
    gold = list(dict.fromkeys(place for question in asked for place in question.gold))
    documents = {document_of(place.document) for place in gold}
    passages = [
        passage.id
        for document in store.documents()
        if document_of(document.id) in documents
        for _, passage in store.passages(document_id=document.id)
    ]
    missing = {place for place, rank in zip(gold, ranks(gold, passages), strict=True) if not rank}
    return {
        question.id: tuple(place for place in question.gold if place in missing)
        for question in asked
        if missing.intersection(question.gold)
    }
