"""The work of a server for each call, and its refusals.

Clients call `WORK` by name; `localrag.doors.calls` declares the fields.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import urlencode

# Before Python 3.12 Pydantic needs the TypedDict of this package.
from typing_extensions import TypedDict

from localrag.answer.types import UNWATCHED, Watch
from localrag.doors.as_json.checks import (
    MOST_LISTED,
    CheckJson,
    PendingJson,
    check_as_json,
    pending_as_json,
)
from localrag.doors.as_json.found import (
    AnswerJson,
    CorpusJson,
    RetrievalJson,
    answer_as_json,
    corpus_as_json,
    retrieval_as_json,
)
from localrag.doors.as_json.statutes import (
    AffectedJson,
    ComparisonJson,
    HistoryJson,
    LookedUpJson,
    ResolutionJson,
    affected_as_json,
    comparison_as_json,
    history_as_json,
    looked_up_as_json,
    resolution_as_json,
)
from localrag.doors.calls import (
    AffectedCall,
    AskCall,
    Call,
    CheckCall,
    DiffCall,
    HistoryCall,
    PendingCall,
    ResolveCall,
    SearchCall,
    ShowCall,
)
from localrag.doors.session import Corpus, Session
from localrag.errors import LocalragError, ModelUnusable
from localrag.methods.answering import answering_method
from localrag.ops.conversations.store import answer_as_kept, kept_answer
from localrag.page.affected import affected_blocks
from localrag.page.answer import (
    answer_blocks,
    filed_answer,
    label,
    note_blocks,
    question_blocks,
    read_as,
)
from localrag.page.blocks import Block, Heading
from localrag.page.files import into, require_package
from localrag.page.history import amendment_blocks, history_blocks
from localrag.page.html import fragment
from localrag.page.markdown import markdown
from localrag.page.provision import left_out, looked_up_blocks, place
from localrag.page.report import check_blocks
from localrag.search.finding import resolve
from localrag.search.provision import LookedUp
from localrag_indexes.errors import IndexingError

# Links under one heading of the page.
_LINKS = 50


@dataclass(frozen=True)
class Work:
    """One kind of call: its class, the type of its JSON, and the function for it."""

    takes: type[Call]
    gives: Any
    do: Callable[[Corpus, Any], Any]

    @property
    def about(self) -> str:
        """The purpose of the call, in one sentence."""
        return str(self.takes.__doc__)


def _search(corpus: Corpus, call: SearchCall) -> RetrievalJson:
    query = call.as_query(corpus.store)
    return retrieval_as_json(query, corpus.search(query, call.k))


def _looked_up(corpus: Corpus, call: ShowCall) -> LookedUp:
    if call.as_read_by:
        return LookedUp((corpus.show(call.citation, as_read_by=call.as_read_by),))
    return corpus.look_up(call.citation, call.most)


def _show(corpus: Corpus, call: ShowCall) -> LookedUpJson:
    return looked_up_as_json(_looked_up(corpus, call))


def _resolve(corpus: Corpus, call: ResolveCall) -> ResolutionJson:
    return resolution_as_json(resolve(corpus.store, call.citation))


def _history(corpus: Corpus, call: HistoryCall) -> HistoryJson:
    return history_as_json(corpus.history(call.citation))


def _affected(corpus: Corpus, call: AffectedCall) -> AffectedJson:
    return affected_as_json(corpus.affected(call.citation, call.depth))


def _pending(corpus: Corpus, call: PendingCall) -> PendingJson:
    day = corpus.store.as_of
    if call.text:
        return pending_as_json(day, changed=corpus.upcoming(call.text, call.until))
    return pending_as_json(day, corpus.pending(call.until, call.law))


def _diff(corpus: Corpus, call: DiffCall) -> ComparisonJson:
    return comparison_as_json(corpus.diff(call.law, call.before, call.after))


def _check(corpus: Corpus, call: CheckCall) -> CheckJson:
    return check_as_json(corpus.check(call.text), MOST_LISTED)


class ToldJson(TypedDict):
    """An answer as JSON, as Markdown, as HTML for the page, and as conversations keep it."""

    answer: AnswerJson
    markdown: str
    html: str
    kept: str


def answered(corpus: Corpus, call: AskCall, watch: Watch = UNWATCHED) -> ToldJson:
    """Answer the question of a call; raises as `Corpus.ask`, and Cancelled if the watch says so."""
    query = call.as_query(corpus.store)
    answer = corpus.ask(query, watch)
    shown = markdown(filed_answer(answer, partial(place, corpus.store)))
    blocks = [
        *([read_as(answer.read_as)] if answer.read_as else []),
        *answer_blocks(answer, label),
        *note_blocks(answer.trace),
    ]
    return {
        "answer": answer_as_json(query, answer),
        "markdown": shown.strip(),
        "html": fragment(blocks, partial(address, call)),
        "kept": answer_as_kept(answer),
    }


def address(call: Call, passage_id: str) -> str:
    """The address of a passage beside the page in view, in the corpus and on the day of a call."""
    day = call.as_of.isoformat() if call.as_of else ""
    wanted = {"at": passage_id, "corpus": call.corpus, "as_of": day}
    given = {name: value for name, value in wanted.items() if value}
    return f"?{urlencode(given, errors='replace')}#beside"


def _beside(corpus: Corpus, call: ShowCall) -> str:
    found = _looked_up(corpus, call)
    return _aside([*looked_up_blocks(found), *left_out(found)], call)


def _affected_beside(corpus: Corpus, call: ShowCall) -> str:
    return _aside(affected_blocks(corpus.affected(call.citation)), call)


def _history_beside(corpus: Corpus, call: ShowCall) -> str:
    return _aside(history_blocks(corpus.history(call.citation)), call)


def _pending_beside(corpus: Corpus, call: ShowCall) -> str:
    """The amendments to come of the law of a provision."""
    law = corpus.affected(call.citation).place.document_id
    title = Heading(1, corpus.store.document(law).title)
    return _aside([title, *amendment_blocks(corpus.pending(law=law))], call)


def _aside(blocks: Iterable[Block], call: ShowCall) -> str:
    return fragment(blocks, partial(address, call), shift=1, first_id="read", entries=_LINKS)


@dataclass(frozen=True, kw_only=True, eq=False)
class FileCheckCall(Call):
    """Check a file of this machine; no client names one."""

    path: str


def _checked(corpus: Corpus, call: CheckCall | FileCheckCall) -> str:
    source = call.text if isinstance(call, CheckCall) else Path(call.path)
    blocks = check_blocks(corpus.check(source), show_all=True, link=True)
    return fragment(blocks, partial(address, call), shift=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class FileCall(Call):
    """Write an answer as a file; `kept` is the answer as conversations keep it."""

    question: str
    kept: str
    ending: str


def _filed(corpus: Corpus, call: FileCall) -> str:
    """The bytes of the file in Base64."""
    answer, path = kept_answer(call.kept), Path(f"answer{call.ending}")
    require_package(path)
    shown = filed_answer(answer, partial(place, corpus.store))
    file = BytesIO()
    into(file, path, [*question_blocks(call.question, (), answer.read_as), *shown])
    return b64encode(file.getvalue()).decode()


def _ask(corpus: Corpus, call: AskCall) -> AnswerJson:
    return answered(corpus, call)["answer"]


WORK: Mapping[str, Work] = {
    "search": Work(SearchCall, RetrievalJson, _search),
    "show": Work(ShowCall, LookedUpJson, _show),
    "resolve": Work(ResolveCall, ResolutionJson, _resolve),
    "history": Work(HistoryCall, HistoryJson, _history),
    "affected": Work(AffectedCall, AffectedJson, _affected),
    "pending": Work(PendingCall, PendingJson, _pending),
    "diff": Work(DiffCall, ComparisonJson, _diff),
    "check": Work(CheckCall, CheckJson, _check),
    "ask": Work(AskCall, AnswerJson, _ask),
}
"""Every call by its name: a tool of `mcp`, a route of `serve`."""

TOLD, CHECKED, FILED = "told", "checked", "filed"
"""The names of a question, a checked text, and the file of an answer, for people."""
BESIDE: Mapping[str, str] = {
    "": "beside",
    "affected": "affected-beside",
    "history": "history-beside",
    "pending": "pending-beside",
}
"""The names of the views of a provision."""

EVERY: Mapping[str, Work] = {
    **WORK,
    TOLD: Work(AskCall, ToldJson, answered),
    CHECKED: Work(Call, str, _checked),
    FILED: Work(FileCall, str, _filed),
    BESIDE[""]: Work(ShowCall, str, _beside),
    BESIDE["affected"]: Work(ShowCall, str, _affected_beside),
    BESIDE["history"]: Work(ShowCall, str, _history_beside),
    BESIDE["pending"]: Work(ShowCall, str, _pending_beside),
}
"""Every kind of work, those too that no client calls by its name."""


def writes(session: Session, call: AskCall) -> bool:
    """Whether a model takes part in an answer; raises ConfigError, UsageError."""
    opened = session.with_settings(call.settings()).corpus(call.corpus)
    return answering_method(opened.config).needs_model


def corpora_of(session: Session, names: Sequence[str]) -> list[CorpusJson]:
    """Describe corpora; raises as `corpus_as_json`."""
    return [corpus_as_json(session.workspace.corpus(name)) for name in names]


@dataclass(frozen=True)
class Refusal:
    """Why a call has no result; it can cross from one process to another.

    Attributes:
        kind: name of the error.
        cause, cure: without paths.
        code: exit code of the command line.
        transient: the same call can succeed later.
        within: the words with paths, for the log, or "".
    """

    kind: str
    cause: str
    cure: str
    code: int
    transient: bool = False
    within: str = ""

    @classmethod
    def of(cls, error: LocalragError) -> "Refusal":
        """Turn an error into a refusal in the language in use."""
        transient = isinstance(error, ModelUnusable) and error.transient
        kind = next(one.__name__ for one in type(error).__mro__ if one.__module__ == _ERRORS)
        shown = copy(error)
        shown.fields = {name: _placeless(value) for name, value in error.fields.items()}
        cause, cure = map(_without_paths, (shown.cause, shown.cure))
        within = str(error)
        if within == f"{cause} {cure}".strip():
            within = ""
        return cls(kind, cause, cure, error.exit_code, transient, within)

    def __str__(self) -> str:
        return f"{self.cause} {self.cure}".strip()


_ERRORS = LocalragError.__module__
# A path from the root on, of two names at least, and its last name. Addresses of this server stay.
_PATH = re.compile(
    r"(?<![\w:/.~])(?:~|[A-Za-z]:)?[/\\](?!v1/)(?:[^\s/\\'\"`<>|:;,、。（）「」()]+[/\\])+"
    r"([^\s/\\'\"`<>|:;,、。（）「」()]*)"
)


def _placeless(value: object) -> object:
    match value:
        case PurePath():
            return value.name
        case str() if PurePath(value).is_absolute():
            return PurePath(value).name
        case OSError(errno=int(number), strerror=str(reason), filename=str(file)):
            return OSError(number, reason, PurePath(file).name)
        case IndexingError():
            inner = copy(value)
            inner.fields = {name: _placeless(of) for name, of in value.fields.items()}
            return inner
        case _:
            return value


def _without_paths(text: str) -> str:
    return _PATH.sub(lambda path: path[1] or "…", text)
