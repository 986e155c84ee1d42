"""Decontextualised sentences: each can be read alone, with what it leaves to the text around it.

1. **By a model** (DeconRAG, preparation): it reads the document and one of its sentences, and
   writes the sentence with its pronouns, references and elided subjects made explicit. Code refuses
   what brings in a figure or a name that the document does not have, or loses one of the sentence.
2. **Of statutes by the resolver**, without a model: 前項, 同法 and bare articles become the
   provisions that they lead to, under the titles of their laws.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import cycle
from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model

from localrag.config import ChatConfig
from localrag.corpus.links import DELEGATES, Reference
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Document
from localrag.errors import ModelUnusable
from localrag.prepare.layers import (
    DerivedRow,
    DerivedText,
    Job,
    Made,
    Outcome,
    Span,
    digest,
    unreadable,
)
from localrag.prepare.making import Parts, prose_spans, sentence_spans, statute_sentences
from localrag.prompts import language_of, prompt, template
from localrag.question.asked import interrogative_of
from localrag.reading.asking import ask
from localrag.reading.checking import covers, mismatches
from localrag.reading.evidence import element
from localrag.reading.types import MismatchKind
from localrag.retrieval.types import ModelCall
from localrag.statutes.notation import SUPPLEMENT, cite
from localrag.statutes.provisions import LABEL
from localrag_indexes.analysis.analyzer import morphemes, split_sentences
from localrag_indexes.analysis.normalize import letters_of
from localrag_models.chat import ChatModel, Message

PROMPT = "decontextualized"
# Changed when code makes another text of the same reply.
_VERSION = "6"
# Characters that a rewritten sentence may have more than three times those of the sentence.
_MORE = 200
# Words of a sentence that a model names first, and characters of each name, at most. So much a
# rewritten sentence may have beside the sentence, and one name more for an elided subject: what is
# longer, a small model has written again and again.
_MOST_NAMES, _LONGEST_NAME = 4, 100
# Share of what a sentence says that is said in it rewritten, at least: pronouns are no part of it.
_KEPT = 2 / 3
# What many texts are about, and call by its kind once they have named it.
_KINDS = (
    "album|area|army|award|band|battle|book|building|campaign|church|city|club|college|company|"
    "country|county|disease|district|episode|event|family|festival|film|firm|game|group|island|"
    "magazine|match|movie|novel|organi[sz]ation|party|play|programme|program|project|province|"
    "region|river|school|season|series|ship|show|single|song|state|station|story|team|territory|"
    "tournament|town|track|university|village|war"
)
# Words that stand for what the text around them names. In English "this" and "that" often stand
# for nothing of the kind (that he won): they count before a noun's place only, at the beginning.
# "There is" and "it is likely that" point nowhere; "the city of Tarn" says which.
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
# Of these, the ones that a name can replace.
_REPLACEABLE = re.compile(
    r"(?:he|she|it|they|him|them)|(?P<owner>his|her|its|their)|the [a-z ]+"
    r"|彼女?|それ|同(?:社|氏|国|地|市|県|町|村|校|大学|作|曲|書|誌|局|法)",
    re.IGNORECASE,
)
# Stands among these words for a subject that is left out, as Japanese leaves out what the sentence
# before was about.
_SUBJECT = "主語"
# What は, も and が are that tell a subject; behind another one (には, については) they tell none.
_PARTICLES = ("助詞-係助詞", "助詞-格助詞", "助詞-副助詞", "助詞-接続助詞")
# A clause is no name.
_CLAUSE = re.compile(r"\b(?:is|are|was|were|ha[sd]|have)\b")
# What a reference to all items of a paragraph ends with.
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
    """Has a model rewrite the sentences of documents that are no statutes."""

    def __init__(self, model: ChatModel, settings: ChatConfig) -> None:
        self._model = model
        self._settings = settings
        self._recipe = digest(_VERSION, model.id, template(PROMPT), str(settings.temperature))

    def jobs(self, document: Document) -> Iterator[Job]:
        """The sentences of a document, in order; those of one are best made one after the other.

        What they share, the document, is then read by the model once.
        """
        spans = prose_spans(document)
        longest = max((end - start for start, end in spans), default=0)
        parts = Parts(document, spans, partial(self._fits, document, longest))
        for start, end in spans:
            made_of = digest(self._recipe, document.title, document.text, str(start))
            span = Span(start, end)
            source = digest(document.text[start:end])
            yield Job(document.id, span, source, made_of, partial(self._made, parts, span))

    def _made(self, parts: Parts, span: Span) -> Made:
        document = parts.document
        sentence, around = document.text[span.start : span.end], parts.around(span)
        # As the prompt shows it to the model.
        pointing = to_be_named(curly(sentence))
        calls: list[ModelCall] = []
        messages = self._messages(document, around, sentence)
        try:
            reply = ask(
                self._model,
                self._settings,
                messages,
                _shape(_longest(sentence), pointing),
                calls.append,
                PROMPT,
            )
        except ModelUnusable as error:
            return unreadable(error, calls)
        text = " ".join(reply.sentence.split())
        shown, title = document.text[around.start : around.end], document.title
        # A small model names what a word stands for, and copies the word all the same, or leaves
        # out something else: then code puts the names in.
        named = reply.names.model_dump(by_alias=True) if pointing else {}
        for written in (text, sentence):
            full = with_names(written, named, f"{title} {shown}")
            if not adds_nothing(full, sentence) and not adds_or_loses(full, sentence, shown, title):
                return Made(Outcome.MADE, (DerivedText(full),), calls=calls)
        if adds_or_loses(text, sentence, shown, title):
            return Made(Outcome.REFUSED, refused=text, calls=calls)
        return Made(Outcome.UNCHANGED, calls=calls)

    def _messages(self, document: Document, around: Span, sentence: str) -> tuple[Message, ...]:
        # A model that writes JSON ends its text at the first mark that ends a JSON string.
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
        needed = self._model.count(self._messages(document, around, sentence))
        return needed + self._settings.max_tokens <= self._model.context


def curly(text: str) -> str:
    """A text with typographic quotation marks in the place of straight ones."""
    marks = cycle("“”")
    return re.sub('"', lambda _: next(marks), text)


def pointing_words(sentence: str) -> tuple[str, ...]:
    """The words of a sentence that stand for what other sentences name, as written, each once.

    What is elided, no word tells; of a Japanese subject `to_be_named` does.
    """
    found: dict[str, str] = {}
    for match in _POINTING.finditer(sentence):
        found.setdefault(match[0].casefold(), match[0])
    return tuple(found.values())[:_MOST_NAMES]


def to_be_named(sentence: str) -> tuple[str, ...]:
    """What a model is to name: words that stand for others, and a subject that is left out.

    A small model copies a sentence whole unless it is told what to replace.
    """
    subject = (_SUBJECT,) if _lacks_subject(sentence) else ()
    return (*subject, *pointing_words(sentence))[:_MOST_NAMES]


def _lacks_subject(sentence: str) -> bool:
    """Whether a Japanese sentence says nothing of whom or of what it speaks."""
    if language_of(sentence) != "ja" or not sentence.endswith("。"):
        return False
    before = ""
    # Who or what a quotation speaks of is not what the sentence speaks of.
    for word in morphemes(re.sub("「[^「」]*」", "「」", sentence)):
        tells = word.surface in ("は", "も", "が") and word.kind.startswith(_PARTICLES)
        if tells and not before.startswith(_PARTICLES):
            return False
        before = word.kind
    return bool(before)


def with_names(sentence: str, names: Mapping[str, str], shown: str) -> str:
    """A sentence with names in the place of words that stand for them.

    A name that the sentence has is not put in again: beside it a pronoun can be read. A word stays
    whose name does not stand in the text, or that no name alone can replace (then, this). So does
    "the ceremony" where nothing says that what is named is a ceremony: a small model names what
    the document is about.

    Args:
        sentence: as its document has it, or as a model has rewritten it.
        names: by the word of the sentence.
        shown: the text that the names have to stand in.
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
    """Whether what is named is what a word calls it, as far as the text says.

    A word that calls it nothing (she), or what texts are often about (the film), is not doubted.
    """
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
    """Whether a rewritten sentence has no word that the sentence lacks.

    Small models write other quotation marks and hyphens; that says nothing else.
    """
    return letters_of(text) == letters_of(sentence) or covers(text, [sentence]) == 1


def brings_particulars(text: str, shown: Sequence[str], titles: Sequence[str]) -> bool:
    """Whether a text has names, figures, dates or provisions that what is shown lacks.

    Small models write those of an example in the prompt, or of what they know.

    Args:
        text: as a model wrote it.
        shown: the texts that it was written of.
        titles: of the documents that they are of.
    """
    found = mismatches(text, shown, headings=titles)
    return any(one.kind in _PARTICULARS for one in found)


def adds_or_loses(text: str, sentence: str, around: str, title: str) -> bool:
    """Whether a rewritten sentence has names or figures that its document lacks, or lacks its own.

    It also lacks its own where it says less than two thirds of what the sentence says, and has
    what it should not where it is more sentences, or longer than names can make it: small models
    write those before it out, or the same words again and again.

    Args:
        text: as rewritten.
        sentence: as the document has it.
        around: what the model was shown of the document.
        title: of the document.
    """
    return (
        brings_particulars(text, [sentence, around], [title])
        or brings_particulars(sentence, [text], [title])
        or len(text) > len(sentence) + (len(pointing_words(sentence)) + 1) * _LONGEST_NAME
        or covers(sentence, [text]) < _KEPT
        or len(split_sentences(text)) > len(split_sentences(sentence))
    )


def sentence_jobs(store: CorpusStore, document: Document) -> Iterator[Job]:
    """The sentences of any document, as they are."""
    for span in sentence_spans(store, document):
        source = digest(document.text[span.start : span.end])
        yield Job(document.id, span, source, source, partial(_as_made, Made(Outcome.UNCHANGED)))


def statute_jobs(store: CorpusStore, law: Document) -> Iterator[Job]:
    """The sentences of a statute, with the provisions and laws that they cite written out."""
    # A law names few others, again and again.
    title_of = cache(lambda law_id: store.document(law_id).title)
    references_of = cache(lambda place: store.references_from(law.id, place))
    for article, piece in statute_sentences(store, law):
        span = Span(piece.start, piece.end)
        text = _written_out(law, span, references_of(article.locator), title_of)
        made = Made(Outcome.UNCHANGED)
        if text != piece.text:
            made = Made(Outcome.MADE, (DerivedText(text),))
        # It takes no longer to make the text than to find out whether it was made.
        made_of = digest(_VERSION, text)
        yield Job(law.id, span, digest(piece.text), made_of, partial(_as_made, made))


def _as_made(made: Made) -> Made:
    return made


def _written_out(
    law: Document, span: Span, references: Sequence[Reference], title_of: Callable[[str], str]
) -> str:
    """The text of a span, with the references that are not written in full so written."""
    parts: list[str] = []
    position = span.start
    for reference in references:
        inside = position <= reference.start and reference.end <= span.end
        if not inside or reference.kind == DELEGATES or not reference.law_id:
            continue
        title = title_of(reference.law_id)
        # A reference may begin within the title that it is written with.
        first = max(position, reference.start - len(title) + 1)
        if not reference.target.path or title in law.text[first : reference.end]:
            continue
        if full := _in_full(title, law.text[reference.start : reference.end], reference):
            parts += [law.text[position : reference.start], full]
            position = reference.end
    return "".join((*parts, law.text[position : span.end]))


def _in_full(title: str, written: str, reference: Reference) -> str:
    """A reference under the title of its law; "" where nothing tells how an appendix is called."""
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
    """Characters that a rewritten sentence may have, in steps: each takes a grammar of its own."""
    return -(-(3 * len(sentence) + _MORE) // _MORE) * _MORE


# Sentences of one text point with the same words; those of a large corpus with any.
@lru_cache(maxsize=256)
def _shape(longest: int, pointing: tuple[str, ...]) -> type[Any]:
    """A rewritten sentence, after the names of what its words stand for.

    A small model copies the words unless it has named what they stand for before.
    """
    sentence = Annotated[str, Field(min_length=1, max_length=longest)]
    if not pointing:
        return create_model("Rewritten", __base__=BaseModel, sentence=sentence)
    fields: dict[str, Any] = {
        f"name{n}": (Annotated[str, Field(min_length=1, max_length=_LONGEST_NAME, alias=word)], ...)
        for n, word in enumerate(pointing)
    }
    names = create_model("Names", __base__=BaseModel, **fields)
    return create_model("Rewritten", __base__=BaseModel, names=names, sentence=sentence)


# HEAD """Completion questions (DeconRAG, preparation): what a sentence leaves to the text around it.
#
# Between a sentence and its decontextualised form lies what a reader had to know. A model asks for
# it, in questions that can be read alone; code keeps those that have no pronoun and whose answer is
# what was added, and tells the word that they are asked with.
# """
#
QUESTIONS_PROMPT = "completion_questions"
# Changed when code makes other questions of the same reply.
_QUESTIONS_VERSION = "5"
_MOST_QUESTIONS, _LONGEST_QUESTION = 4, 300
# Share of what a question speaks of that its sentence speaks of beside the answer: "What is the
# name of the tornado outbreak?" asks of any text.
_OF_SENTENCE = 2 / 3


class _Pair(BaseModel):
    question: Annotated[str, Field(min_length=1, max_length=_LONGEST_QUESTION)]
    answer: Annotated[str, Field(min_length=1, max_length=_LONGEST_QUESTION)]


class _Reply(BaseModel):
    pairs: Annotated[list[_Pair], Field(max_length=_MOST_QUESTIONS)]


class Questioner:
    """Has a model ask for what was added to sentences.

    Args:
        model: what writes.
        settings: of the model.
        rewritten: the rows of the layer of decontextualised sentences, by document.
    """

    def __init__(
        self,
        model: ChatModel,
        settings: ChatConfig,
        rewritten: Mapping[str, list[DerivedRow]],
    ) -> None:
        self._model = model
        self._settings = settings
        self._rewritten = rewritten
        self._recipe = digest(
            _QUESTIONS_VERSION, model.id, template(QUESTIONS_PROMPT), str(settings.temperature)
        )

    def jobs(self, document: Document) -> Iterator[Job]:
        """The sentences of a document that were rewritten, in order."""
        for row in self._rewritten.get(document.id, ()):
            sentence = document.text[row.start : row.end]
            (rewritten, *_), *_ = row.texts
            made_of = digest(self._recipe, sentence, rewritten)
            yield Job(
                document.id,
                Span(row.start, row.end),
                digest(sentence),
                made_of,
                partial(self._made, sentence, rewritten),
            )

    def _made(self, sentence: str, rewritten: str) -> Made:
        calls: list[ModelCall] = []
        messages = prompt(
            QUESTIONS_PROMPT,
            language_of(rewritten),
            sentence=curly(sentence),
            rewritten=curly(rewritten),
            tag=element("text", [sentence, rewritten]),
        )
        try:
            reply = ask(
                self._model, self._settings, messages, _Reply, calls.append, QUESTIONS_PROMPT
            )
        except ModelUnusable as error:
            return unreadable(error, calls)
        # A small model writes the same pair again.
        kept = tuple(
            DerivedText(question, answer, interrogative_of(question).value)
            for question, answer in dict.fromkeys(
                (pair.question, pair.answer)
                for pair in reply.pairs
                if _completes(pair, sentence, rewritten)
            )
        )
        if kept or not reply.pairs:
            return Made(Outcome.MADE if kept else Outcome.UNCHANGED, kept, calls=calls)
        refused = "\n".join(f"{pair.question}\t{pair.answer}" for pair in reply.pairs)
        return Made(Outcome.REFUSED, refused=refused, calls=calls)


def _completes(pair: _Pair, sentence: str, rewritten: str) -> bool:
    """Whether a pair asks, in words that can be read alone, for something that was added.

    The answer stands in the rewritten sentence, not in the sentence, and not in the question; an
    answer that is the whole sentence answers nothing, and a question that has little of the
    sentence asks for nothing that this sentence alone says. An English question that has no mark
    at its end was broken off, as small models do before a quotation.
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
