"""Step 4 of checking a claim: the supplementary context of a sentence, written by a model.

What a sentence leaves to the text around it (who "he" is, of which year it speaks) is written down
beside it, so that the sentence can be weighed alone. A supplement is no quotation and carries
nothing: what is cited is the sentence.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field, create_model

from localrag.answer.evidence import Sentence, element
from localrag.answer.prompts import Language, language_of
from localrag.corpus.store import CorpusStore
from localrag.errors import ModelUnusable
from localrag.methods.catalogue import Case
from localrag.methods.fact_check.finding import FoundSentence
from localrag.methods.toolkit import Toolkit
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis.analyzer import split_sentences

PURPOSE = "supplement"
"""The call that writes one."""

# Characters on either side of a sentence that are looked at for the sentences around it.
_REACH = 3_000
# Characters that a token holds at the least, by language: a supplement is bounded in characters, so
# that it ends where it must and is not cut off.
_CHARACTERS: dict[Language, int] = {"ja": 1, "en": 3}


class Surroundings(NamedTuple):
    """The text before and after a sentence."""

    before: str
    after: str


class _Supplement(BaseModel):
    context: str


def supplemented(
    case: Case, toolkit: Toolkit, subject: str, found: Sequence[FoundSentence]
) -> list[FoundSentence]:
    """A step: have the model write the supplementary context of each sentence.

    A sentence with nothing around it has none, and takes no call.

    Raises:
        ModelUnusable: the model failed, other than by a malformed reply or a prompt too long; what
            is told of these is in the trace.
    """
    return [_supplemented(case, toolkit, subject, one) for one in found]


def _supplemented(
    case: Case, toolkit: Toolkit, subject: str, found: FoundSentence
) -> FoundSentence:
    if found.supplement:
        return found
    sentence = found.sentence
    with toolkit.store() as store:
        around = surroundings(store, sentence, case.settings.around)
    if not any(around):
        return found
    texts = [case.query.text, found.question, sentence.passage.header, sentence.piece.text, *around]
    messages = toolkit.prompt(
        "fact_check_supplement",
        case.query,
        searched=found.question,
        place=sentence.passage.header,
        sentence=sentence.piece.text,
        before=around.before,
        after=around.after,
        tag=element("text", texts),
    )
    longest = _CHARACTERS[language_of(case.query.text)] * case.settings.supplement
    try:
        reply = toolkit.ask(messages, _shape(longest), PURPOSE)
    except ModelUnusable as error:
        if not error.of_one_request:
            raise
        toolkit.note(PURPOSE, [Fact(FactKind.NOT_SUPPLEMENTED)], subject=subject)
        return found
    return found._replace(supplement=" ".join(reply.context.split()))


def put_before(found: FoundSentence) -> FoundSentence:
    """The sentence with its supplement before it, as one text: what the paper shows a model."""
    if not found.supplement:
        return found
    text = f"{found.supplement} {found.sentence.piece.text}"
    return found._replace(sentence=replace(found.sentence, rewritten=text))


def surroundings(store: CorpusStore, sentence: Sentence, count: int) -> Surroundings:
    """Up to so many sentences on either side of a sentence, in its document."""
    piece, document = sentence.piece, sentence.passage.document_id
    before = store.text(document, max(0, piece.start - _REACH), piece.start)
    after = store.text(document, piece.end, piece.end + _REACH)
    first = [before[start:end] for start, end in split_sentences(before)][-count:]
    last = [after[start:end] for start, end in split_sentences(after)][:count]
    return Surroundings("\n".join(first), "\n".join(last))


@cache
def _shape(longest: int) -> type[_Supplement]:
    written = Annotated[str, Field(min_length=1, max_length=longest)]
    return create_model("Supplement", __base__=_Supplement, context=(written, ...))
