"""DeconRAG, preparation: decontextualised sentences, and the questions completing them.

1. **A model** reads the document and one of its sentences. It rewrites the sentence with explicit
   pronouns, references and subjects. Code refuses new figures or names, and the loss of its own.
2. **The resolver** rewrites statutes without a model: 前項, 同法 and bare articles become
   provisions with the titles of their laws.
3. **Completion questions** ask for the information added by rewriting. Code keeps
   questions without pronouns whose answer was added, and notes their interrogative.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import cycle
from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model

from localrag.answer.checking import covers, mismatches
from localrag.answer.evidence import element
from localrag.answer.prompts import language_of, prompt
from localrag.answer.types import MismatchKind
from localrag.corpus.config import ChatConfig
from localrag.corpus.links import DELEGATES, Reference
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Document
from localrag.law.notation import SUPPLEMENT, cite
from localrag.law.provisions import LABEL
from localrag.prepare.layers import (
    DerivedRow,
    DerivedText,
    LayerJob,
    Made,
    Span,
    UnitOutcome,
    digest,
)
from localrag.prepare.making import (
    LayerWriter,
    Parts,
    prose_spans,
    sentence_spans,
    statute_sentences,
    written,
)
from localrag.search.question.asked import interrogative_of
from localrag.search.types import ModelCall
from localrag_indexes.analysis.analyzer import morphemes, split_sentences
from localrag_indexes.analysis.normalize import letters_of
from localrag_models.chat import ChatModel, Message

PROMPT = "decontextualized"
# To be raised when code makes another text of the same reply.
_VERSION = "6"
# Characters that a rewritten sentence may have beyond three times the length of the sentence.
_MORE = 200
# Words that a model names first, and characters of a name, at most. They limit a sentence,
# with one more name for an elided subject, because small models repeat themselves.
_MOST_NAMES, _LONGEST_NAME = 4, 100
# Least share of a sentence in its rewritten form, without pronouns.
_KEPT = 2 / 3
# Kinds by which texts call their topic after they have named it.
_KINDS = (
    "album|area|army|award|band|battle|book|building|campaign|church|city|club|college|company|"
    "country|county|disease|district|episode|event|family|festival|film|firm|game|group|island|"
    "magazine|match|movie|novel|organi[sz]ation|party|play|programme|program|project|province|"
    "region|river|school|season|series|ship|show|single|song|state|station|story|team|territory|"
    "tournament|town|track|university|village|war"
)
# Words that refer to the text around them. "This" and "that" count only at the beginning, because
# they often refer to nothing (that he won). "There is", "it is likely that" and "the city of Tarn"
# are excluded.
_POINTING = re.compile(
    r"\b(?:he|she|they|him|her|them|his|hers|its|their|theirs|then(?!-))\b"
    r"|\bit\b(?! (?:is|was|seems|has been) (?:\w+ )?that\b)"
    r"|\bthere\b(?! (?:is|are|was|were|ha[sd]|have|will|can|may)\b)"
    r"|^(?:this|that|these|those|here|such|the former|the latter)\b"
    rf"|\bthe (?:(?-i:[a-z]+) )?(?:{_KINDS})\b(?! of\b| (?-i:[A-Z“]))"
    r"|^the (?:(?:first|second|third|last|next|new|final|original|same|current) )?(?-i:[a-z]+)\b"
    r"(?! of\b| (?-i:[A-Z“]))"
    r"|彼女ら?|彼ら?|(?:そ|こ|あ)(?:の|れら?|こ)(?!よう|ため|ほか|他|間)|当時|両(?:者|社|国|名)"
    r"|同(?:社|氏|国|年|月|日|地|市|県|町|村|校|大学|作|曲|書|誌|局|法|条|項|号)|前者|後者",
    re.IGNORECASE,
)
# The words among these that a name can replace.
_REPLACEABLE = re.compile(
    r"(?:he|she|it|they|him|them)|(?P<owner>his|her|its|their)|the [a-z ]+"
    r"|彼女?|それ|同(?:社|氏|国|地|市|県|町|村|校|大学|作|曲|書|誌|局|法)",
    re.IGNORECASE,
)
# The word for an elided subject: Japanese omits the topic of the sentence before.
_SUBJECT = "主語"
# は, も and が mark a subject, but not after another particle (には, については).
_PARTICLES = ("助詞-係助詞", "助詞-格助詞", "助詞-副助詞", "助詞-接続助詞")
# A clause is no name.
_CLAUSE = re.compile(r"\b(?:is|are|was|were|ha[sd]|have)\b")
# The end of a reference to all items of a paragraph.
_EACH_ITEM = "各号"
_PARTICULARS = frozenset(
    (
        MismatchKind.FIGURE,
        MismatchKind.DATE,
        MismatchKind.PERIOD,
        MismatchKind.SHARE,
        MismatchKind.AMOUNT,
        MismatchKind.PROVISION,
        MismatchKind.NAME,
    )
)


class Rewriter:
    """Has a model rewrite the sentences of documents, statutes apart."""

    def __init__(self, model: ChatModel, settings: ChatConfig) -> None:
        self._writer = LayerWriter(model, settings, PROMPT, _VERSION)

    def jobs(self, document: Document) -> Iterator[LayerJob]:
        """The sentences of a document in order, so that a model reads the document only once."""
        spans = prose_spans(document)
        longest = max((end - start for start, end in spans), default=0)
        parts = Parts(document, spans, partial(self._fits, document, longest))
        for start, end in spans:
            made_of = digest(self._writer.recipe, document.title, document.text, str(start))
            span = Span(start, end)
            source = digest(document.text[start:end])
            make = partial(written, self._made, parts, span)
            yield LayerJob(document.id, span, source, made_of, make)

    def _made(self, calls: list[ModelCall], parts: Parts, span: Span) -> Made:
        document = parts.document
        sentence, around = document.text[span.start : span.end], parts.around(span)
        # As the prompt shows it to the model.
        pointing = to_be_named(curly(sentence))
        messages = self._messages(document, around, sentence)
        reply = self._writer.ask(messages, _shape(_longest(sentence), pointing), calls)
        text = " ".join(reply.sentence.split())
        shown, title = document.text[around.start : around.end], document.title
        # A small model names a word but still copies it, or loses another: then code inserts names.
        named = reply.names.model_dump(by_alias=True) if pointing else {}
        for one in (text, sentence):
            full = with_names(one, named, f"{title} {shown}")
            if not adds_nothing(full, sentence) and not adds_or_loses(full, sentence, shown, title):
                return Made(UnitOutcome.MADE, (DerivedText(full),))
        if adds_or_loses(text, sentence, shown, title):
            return Made(UnitOutcome.REFUSED, refused=text)
        return Made(UnitOutcome.UNCHANGED)

    def _messages(self, document: Document, around: Span, sentence: str) -> tuple[Message, ...]:
        # A straight quotation mark would end the JSON string that the model writes.
        text = curly(document.text[around.start : around.end])
        sentence = curly(sentence)
        return prompt(
            PROMPT,
            language_of(sentence),
            title=document.title,
            text=text,
            sentence=sentence,
            pointing=to_be_named(sentence),
            tag=element("document", [document.title, text, sentence]),
        )

    def _fits(self, document: Document, longest: int, around: Span) -> bool:
        sentence = document.text[around.start : around.start + longest]
        return self._writer.fits(self._messages(document, around, sentence))


def curly(text: str) -> str:
    """A text with typographic instead of straight quotation marks."""
    marks = cycle("“”")
    return re.sub('"', lambda _: next(marks), text)


def pointing_words(sentence: str) -> tuple[str, ...]:
    """The words referring to other sentences, each once; see `to_be_named` for elided subjects."""
    found: dict[str, str] = {}
    for match in _POINTING.finditer(sentence):
        found.setdefault(match[0].casefold(), match[0])
    return tuple(found.values())[:_MOST_NAMES]


def to_be_named(sentence: str) -> tuple[str, ...]:
    """The things for a model to name; without this list a small model copies the sentence."""
    subject = (_SUBJECT,) if _lacks_subject(sentence) else ()
    return (*subject, *pointing_words(sentence))[:_MOST_NAMES]


def _lacks_subject(sentence: str) -> bool:
    """Whether a Japanese sentence has no subject or topic."""
    if language_of(sentence) != "ja" or not sentence.endswith("。"):
        return False
    before = ""
    # The subject of a quotation is not the subject of the sentence.
    for word in morphemes(re.sub("「[^「」]*」", "「」", sentence)):
        tells = word.surface in ("は", "も", "が") and word.kind.startswith(_PARTICLES)
        if tells and not before.startswith(_PARTICLES):
            return False
        before = word.kind
    return bool(before)


def with_names(sentence: str, names: Mapping[str, str], shown: str) -> str:
    """A sentence with names instead of words referring to them.

    A word stays if no name can replace it (then, this), or if its name is not in the shown text. A
    name is not repeated. "The ceremony" stays unless the text calls the name a ceremony: a small
    model names the topic of the document.
    """
    known = letters_of(shown)
    for word, name in names.items():
        letters = letters_of(re.sub("^the ", "", name, flags=re.IGNORECASE))
        if word == _SUBJECT:
            if letters and letters in known and letters not in letters_of(sentence):
                sentence = f"{name}は、{sentence}"
            continue
        replaceable = _REPLACEABLE.fullmatch(word)
        bound = r"\b" if word.isascii() else ""
        place = re.search(f"{bound}{re.escape(word)}{bound}", sentence)
        if not (place and replaceable and letters and letters in known):
            continue
        if letters in letters_of(sentence) or _CLAUSE.search(name) or not _is_so(word, name, shown):
            continue
        if replaceable["owner"]:
            name += "’" if name.endswith("s") else "’s"
        if not place.start():
            name = name[0].upper() + name[1:]
        sentence = f"{sentence[: place.start()]}{name}{sentence[place.end() :]}"
    return sentence


def _is_so(word: str, name: str, shown: str) -> bool:
    """Whether a name is what a word calls it, as far as the text shows; pronouns always are."""
    described = re.fullmatch(r"the (?:[a-z]+ )?([a-z]+)", word, re.IGNORECASE)
    if described is None or re.fullmatch(_KINDS, described[1], re.IGNORECASE):
        return True
    noun = rf"\b{described[1]}\b"
    if re.search(noun, name, re.IGNORECASE):
        return True
    # "Tarn is a small town", "Tarn, a small town".
    said = rf"(?:,|\b(?:is|are|was|were|became|as)) (?:an?|the|one)\b[^.;]*?{noun}"
    return re.search(said, shown, re.IGNORECASE) is not None


def adds_nothing(text: str, sentence: str) -> bool:
    """Whether a rewritten sentence has no new word; quotation marks and hyphens do not count."""
    return letters_of(text) == letters_of(sentence) or covers(text, [sentence]) == 1


def brings_particulars(text: str, shown: Sequence[str], titles: Sequence[str]) -> bool:
    """Whether a text has names, figures, dates or provisions that sources and titles miss."""
    found = mismatches(text, shown, headings=titles)
    return any(one.kind in _PARTICULARS for one in found)


def adds_or_loses(text: str, sentence: str, around: str, title: str) -> bool:
    """Whether a rewritten sentence has new names or figures, or has lost its own.

    It has lost its own if it says less than two thirds of the sentence. It has too much if it is
    more sentences, or longer than names can make it: small models copy neighbours and repeat words.
    """
    return (
        brings_particulars(text, [sentence, around], [title])
        or brings_particulars(sentence, [text], [title])
        or len(text) > len(sentence) + (len(pointing_words(sentence)) + 1) * _LONGEST_NAME
        or covers(sentence, [text]) < _KEPT
        or len(split_sentences(text)) > len(split_sentences(sentence))
    )


def sentence_jobs(store: CorpusStore, document: Document) -> Iterator[LayerJob]:
    """The sentences of any document, as they are."""
    for span in sentence_spans(store, document):
        source = digest(document.text[span.start : span.end])
        yield LayerJob(
            document.id, span, source, source, partial(_as_made, Made(UnitOutcome.UNCHANGED))
        )


def statute_jobs(store: CorpusStore, law: Document) -> Iterator[LayerJob]:
    """The sentences of a statute, with the cited provisions and laws written out."""
    # A law names a few others repeatedly.
    title_of = cache(lambda law_id: store.document(law_id).title)
    references_of = cache(lambda place: store.references_from(law.id, place))
    for article, piece in statute_sentences(store, law):
        span = Span(piece.start, piece.end)
        text = _written_out(law, span, references_of(article.locator), title_of)
        made = Made(UnitOutcome.UNCHANGED)
        if text != piece.text:
            made = Made(UnitOutcome.MADE, (DerivedText(text),))
        # The text is made here: finding out whether it exists takes as long.
        made_of = digest(_VERSION, text)
        yield LayerJob(law.id, span, digest(piece.text), made_of, partial(_as_made, made))


def _as_made(made: Made) -> Made:
    return made


def _written_out(
    law: Document, span: Span, references: Sequence[Reference], title_of: Callable[[str], str]
) -> str:
    """The text of a span, with all references written out."""
    parts: list[str] = []
    position = span.start
    for reference in references:
        inside = position <= reference.start and reference.end <= span.end
        if not inside or reference.kind == DELEGATES or not reference.law_id:
            continue
        title = title_of(reference.law_id)
        # A reference may begin inside its title.
        first = max(position, reference.start - len(title) + 1)
        if not reference.target.path or title in law.text[first : reference.end]:
            continue
        if full := _in_full(title, law.text[reference.start : reference.end], reference):
            parts += [law.text[position : reference.start], full]
            position = reference.end
    return "".join((*parts, law.text[position : span.end]))


def _in_full(title: str, written: str, reference: Reference) -> str:
    """A reference under the title of its law; "" if the name of an appendix is unknown."""
    target, label = reference.target, LABEL.search(written)
    if target.division and not target.division.startswith(SUPPLEMENT) and label is None:
        return ""
    full = cite(title, target, division=label[0] if label else "")
    # 前各号 names the items themselves.
    each = _EACH_ITEM if written.endswith(_EACH_ITEM) and not target.item else ""
    if reference.target_end is not None:
        full += f"から{cite('', reference.target_end)}まで" + ("の" if each else "")
    return full + each


def _longest(sentence: str) -> int:
    return -(-(3 * len(sentence) + _MORE) // _MORE) * _MORE


# Sentences of one text share their referring words; a large corpus has any.
@lru_cache(maxsize=256)
def _shape(longest: int, pointing: tuple[str, ...]) -> type[Any]:
    """A rewritten sentence, after names for its words; small models copy words otherwise."""
    sentence = Annotated[str, Field(min_length=1, max_length=longest)]
    if not pointing:
        return create_model("Rewritten", __base__=BaseModel, sentence=sentence)
    fields: dict[str, Any] = {
        f"name{n}": (Annotated[str, Field(min_length=1, max_length=_LONGEST_NAME, alias=word)], ...)
        for n, word in enumerate(pointing)
    }
    names = create_model("Names", __base__=BaseModel, **fields)
    return create_model("Rewritten", __base__=BaseModel, names=names, sentence=sentence)


QUESTIONS_PROMPT = "completion_questions"
# To be raised when code makes other questions of the same reply.
_QUESTIONS_VERSION = "5"
_MOST_QUESTIONS, _LONGEST_QUESTION = 4, 300
# Least share of a question in its sentence, without the answer: "What is the name of the tornado
# outbreak?" fits any text.
_OF_SENTENCE = 2 / 3


class _CompletionPair(BaseModel):
    question: Annotated[str, Field(min_length=1, max_length=_LONGEST_QUESTION)]
    answer: Annotated[str, Field(min_length=1, max_length=_LONGEST_QUESTION)]


class _CompletionReply(BaseModel):
    pairs: Annotated[list[_CompletionPair], Field(max_length=_MOST_QUESTIONS)]


class Questioner:
    """Has a model ask for the information added to sentences."""

    def __init__(
        self,
        model: ChatModel,
        settings: ChatConfig,
        rewritten: Mapping[str, list[DerivedRow]],
    ) -> None:
        self._writer = LayerWriter(model, settings, QUESTIONS_PROMPT, _QUESTIONS_VERSION)
        self._rewritten = rewritten

    def jobs(self, document: Document) -> Iterator[LayerJob]:
        """The rewritten sentences of a document, in order."""
        for row in self._rewritten.get(document.id, ()):
            sentence = document.text[row.start : row.end]
            (rewritten, *_), *_ = row.texts
            made_of = digest(self._writer.recipe, sentence, rewritten)
            make = partial(written, self._made, sentence, rewritten)
            yield LayerJob(document.id, Span(row.start, row.end), digest(sentence), made_of, make)

    def _made(self, calls: list[ModelCall], sentence: str, rewritten: str) -> Made:
        messages = prompt(
            QUESTIONS_PROMPT,
            language_of(rewritten),
            sentence=curly(sentence),
            rewritten=curly(rewritten),
            tag=element("text", [sentence, rewritten]),
        )
        reply = self._writer.ask(messages, _CompletionReply, calls)
        # A small model repeats pairs.
        kept = tuple(
            DerivedText(question, answer, interrogative_of(question).value)
            for question, answer in dict.fromkeys(
                (pair.question, pair.answer)
                for pair in reply.pairs
                if _completes(pair, sentence, rewritten)
            )
        )
        if kept or not reply.pairs:
            return Made(UnitOutcome.MADE if kept else UnitOutcome.UNCHANGED, kept)
        refused = "\n".join(f"{pair.question}\t{pair.answer}" for pair in reply.pairs)
        return Made(UnitOutcome.REFUSED, refused=refused)


def _completes(pair: _CompletionPair, sentence: str, rewritten: str) -> bool:
    """Whether a pair asks for added information, and can be read alone.

    The answer is new in the rewritten sentence, not in the question, and less than half of it. An
    English question needs its mark: small models break off before a quotation.
    """
    answer, whole = letters_of(pair.answer), letters_of(rewritten)
    beside = re.sub(re.escape(pair.answer), " ", rewritten, flags=re.IGNORECASE)
    return (
        bool(answer)
        and answer in whole
        and 2 * len(answer) < len(whole)
        and answer not in letters_of(sentence)
        and answer not in letters_of(pair.question)
        and not pointing_words(pair.question)
        and (language_of(pair.question) != "en" or pair.question.rstrip("”’\"' ").endswith("?"))
        and covers(pair.question, [beside]) > _OF_SENTENCE
    )
