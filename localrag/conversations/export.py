"""A conversation as a Markdown file of the user's, with its citations in legal style."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path

from localrag.access import open_file
from localrag.conversations.store import Conversations
from localrag.conversations.types import Conversation, Turn, TurnState
from localrag.corpus.store import CorpusStore
from localrag.durable import replace_text
from localrag.errors import FileExistsAlready, LocalragError, StorageError, UsageError
from localrag.harmless import harmless, one_line
from localrag.language import N_, _
from localrag.methods.choices import labelled
from localrag.provision import citation_of
from localrag.reading import wording
from localrag.reading.types import Answer, Citation, Claim, Derivation, Step
from localrag.workspace import Workspace

_ANYWHERE = re.compile(r"[\\`*_\[\]<>&~|$]")
# What begins a heading, a list, a rule or a table only where it begins a line.
_BEGINNING = re.compile(r"(?P<mark>[#+\-=:])|(?P<number>\d{1,9})(?P<end>[.)])|(?P<blank>[ \t])")
# GitHub makes links of these without being asked.
_ADDRESS = re.compile(r"(?<=\w)(?=://)|(?<=\bwww)(?=\.)", re.IGNORECASE)
_TICKS = re.compile("`+")


def line(text: str) -> str:
    """Write a text within a line; its line breaks are made visible."""
    return _in_line(one_line(text))


def paragraph(text: str) -> str:
    """Write a text of any number of lines, which stay as they are."""
    lines = [_in_line(row) for row in harmless(text).split("\n")]
    following = [*lines[1:], ""]
    # A backslash at its end keeps a line break; before an empty line there is no need.
    return "\n".join(
        f"{row}\\" if row and after else row for row, after in zip(lines, following, strict=True)
    )


def quotation(text: str, indent: str = "") -> str:
    """Write a text as a block quote, behind the indent of the list it stands in."""
    return "\n".join(f"{indent}> {row}".rstrip() for row in paragraph(text).split("\n"))


def code(text: str) -> str:
    """Write a text as code within a line."""
    text = one_line(text)
    fence = "`" * (1 + max(map(len, _TICKS.findall(text)), default=0))
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{blank}{text}{blank}{fence}"


def items(texts: Iterable[str]) -> str:
    """Write a list of what is Markdown already, an entry each."""
    return "\n".join(f"- {text}" for text in texts)


def _in_line(text: str) -> str:
    escaped = _ADDRESS.sub(r"\\", _ANYWHERE.sub(r"\\\g<0>", text))
    return _BEGINNING.sub(_as_text, escaped, count=1) if _BEGINNING.match(escaped) else escaped


def _as_text(match: re.Match[str]) -> str:
    if match["blank"]:
        # Four blanks would begin a block of code.
        return f"&#{ord(match['blank'])};"
    return f"\\{match['mark']}" if match["mark"] else f"{match['number']}\\{match['end']}"


Locate = Callable[[str, Citation], str]
"""Tells where a citation stands, in words, from the name of the corpus and the citation."""

_ENDS = {
    TurnState.ANSWERING: N_("Unfinished: it is being answered."),
    TurnState.CANCELLED: N_("Cancelled by the user."),
    TurnState.FAILED: N_("Failed."),
    TurnState.INTERRUPTED: N_("Interrupted: the application ended during the answer."),
}
_UNREADABLE = N_("The answer cannot be read.")


def markdown(conversation: Conversation, turns: Sequence[Turn], locate: Locate) -> str:
    """Write a conversation as Markdown, in the language in use.

    Args:
        conversation: for its title and date.
        turns: its questions, in order.
        locate: writes the places of citations.
    """
    blocks = [f"# {line(conversation.title or _('Conversation'))}", _date(conversation.created)]
    if not turns:
        blocks.append(_("No question has been asked."))
    for number, turn in enumerate(turns, 1):
        blocks.append(f"## {_('Question {n}').format(n=number)}")
        blocks += _turn(turn, locate)
    return "\n\n".join(blocks) + "\n"


def _turn(turn: Turn, locate: Locate) -> Iterator[str]:
    yield quotation(turn.query.text)
    if turn.read_as != turn.query.text:
        yield _("Read as: {question}").format(question=line(turn.read_as))
    if turn.query.options:
        yield items(f"{label}: {line(option)}" for label, option in labelled(turn.query.options))
    made_with = [
        line(turn.corpus),
        line(turn.method or _("default reader")),
        line(turn.model or _("no model")),
        _date(turn.asked),
    ]
    if turn.seconds:
        made_with.append(_("{n:.1f} s").format(n=turn.seconds))
    yield " · ".join(made_with)
    if turn.answer is not None:
        yield from blocks(turn.corpus, turn.answer, locate)
        return
    yield f"**{_(_ENDS.get(turn.state, _UNREADABLE))}**"
    if turn.cause:
        yield paragraph(f"{turn.cause} {turn.cure}".strip())
    if turn.draft:
        yield _("Written until then, and not checked:")
        yield items(map(line, turn.draft))


def blocks(corpus: str, answer: Answer, locate: Locate) -> Iterator[str]:
    """Write an answer as Markdown, in the language in use, block by block.

    Args:
        corpus: that was asked.
        answer: what it said.
        locate: writes the places of citations.
    """
    if answer.absent:
        yield f"**{_('Not in this corpus:')}** {line('、'.join(answer.absent))}"
    status = _(wording.STATUSES[answer.status])
    yield f"**{status}**: {line(wording.verdict(answer))}"
    if answer.label:
        yield f"**{line(answer.label)}** {line(answer.text)}"
    # What the extractive reader says is its quotations, which follow.
    elif answer.text and (answer.is_concluded or not (answer.claims or answer.citations)):
        yield paragraph(answer.text)
    if answer.claims:
        yield items(_claim(answer, claim) for claim in answer.claims)
    if answer.derivation:
        yield f"### {_('Derivation')}"
        yield from _derivation(answer, answer.derivation)
    if answer.citations:
        yield f"### {_('Citations')}"
        for number, citation in enumerate(answer.citations, 1):
            yield _citation(number, citation, locate(corpus, citation))


def _claim(answer: Answer, claim: Claim) -> str:
    """A claim, and below it what is wrong with it."""
    remarks = [wording.moved()] if claim.moved else []
    remarks += (
        line(wording.mismatch(one.kind, one.written, claim.text)) for one in claim.mismatches
    )
    head = f"{line(claim.text)} {_marks(answer, claim.citations)}".rstrip()
    return "\n  - ".join([head, *remarks])


def _citation(number: int, citation: Citation, place: str) -> str:
    head = f"{number}. {line(place or citation.label or citation.passage_id)}"
    if not citation.verified:
        head += f" **{_('rejected')}**: {line(str(citation.problem or ''))}"
    head = " · ".join([head, *map(line, wording.remarks(citation))])
    indent = " " * len(f"{number}. ")
    return "\n\n".join(
        (head, quotation(citation.quote, indent), f"{indent}{code(citation.passage_id)}")
    )


def _derivation(answer: Answer, derivation: Derivation) -> Iterator[str]:
    yield "\n".join(
        f"{number}. {_step(answer, step)}" for number, step in enumerate(derivation.steps, 1)
    )
    if derivation.computed:
        yield items(map(line, derivation.computed))


def _step(answer: Answer, step: Step) -> str:
    if step.triple is None:
        return f"{line(step.query)} – {_('not found')}"
    source = f" ({wording.origin(step)})"
    marks = _marks(answer, (step.citation,) if step.citation else ())
    return f"{line(step.query)} – {line(step.triple.text)} {marks}".rstrip() + source


def _marks(answer: Answer, numbers: Sequence[int]) -> str:
    """The numbers of citations; a rejected one says so."""
    return "".join(wording.mark(answer, number) for number in numbers)


def _date(time: str) -> str:
    """A time of the store as the clock on the wall showed it."""
    return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M}"


# What no file name may hold on Windows; the rest of its rules concern the beginning and the end.
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\u2400-\u241f\ufffd]+')
# Bytes: file systems take 255, of which a writer needs a few for the ending.
_LONGEST = 200


def export(
    conversations: Conversations,
    workspace: Workspace,
    conversation_id: int,
    path: Path,
    *,
    replace: bool = False,
) -> None:
    """Write a conversation as Markdown, in the language in use.

    Args:
        conversations: where it is kept.
        workspace: whose corpora tell the places of its citations.
        conversation_id: the conversation.
        path: the file.
        replace: write over a file that is there.

    Raises:
        FileExistsAlready: there is such a file, and it may not be replaced.
        NotFoundError: there is no such conversation.
        StorageError: the file cannot be written; one that was there is as before.
    """
    conversation, turns = (
        conversations.get(conversation_id),
        conversations.turns(conversation_id),
    )
    with _places(workspace) as locate:
        text = markdown(conversation, turns, locate)
    _write(path, text, replace=replace)


def file_name(title: str) -> str:
    """A name for the file of a conversation, without ending, that every system takes."""
    name = _FORBIDDEN.sub("_", one_line(title)).strip(" ._")
    name = name.encode()[:_LONGEST].decode(errors="ignore").rstrip(" .")
    return name or "conversation"


@contextmanager
def _places(workspace: Workspace) -> Iterator[Locate]:
    """Writes citations in legal style; those whose corpus or passage is gone as they were kept."""
    opened: dict[str, CorpusStore] = {}
    with ExitStack() as held:

        def locate(corpus: str, citation: Citation) -> str:
            try:
                if corpus not in opened:
                    store = CorpusStore.open(workspace.corpus(corpus).store, read_only=True)
                    opened[corpus] = held.enter_context(store)
                passage = opened[corpus].by_id(citation.passage_id)
                return citation_of(opened[corpus], passage) if passage else citation.label
            except LocalragError:
                return citation.label

        yield locate


def _write(path: Path, text: str, *, replace: bool) -> None:
    try:
        if path.is_dir():
            raise UsageError(
                N_("{path} is a folder."),
                N_("Name a file in it."),
                path=path,
            )
        if replace:
            replace_text(path, text)
            return
        with open_file(path, "xb") as file:
            try:
                file.write(text.encode())
                file.flush()
            except OSError:
                path.unlink()
                raise
    except FileExistsError:
        raise FileExistsAlready(path) from None
    except (OSError, ValueError) as error:
        raise StorageError(
            N_("{path} cannot be written ({problem})."),
            N_("Choose another folder or name, and see that the disk has space."),
            path=path,
            problem=getattr(error, "strerror", None) or error,
        ) from error
