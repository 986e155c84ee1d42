"""Multi-hop questions over Wikipedia, in the formats of their publishers.

- **MuSiQue** (StonyBrookNLP/musique): ``id``, ``question``, ``answer``, ``answer_aliases``,
  ``answerable``, ``paragraphs`` (``title``, ``paragraph_text``, ``is_supporting``),
  ``question_decomposition``. The id begins with the kind of reasoning (``3hop1__…``).
- **HotpotQA** (hotpotqa.github.io) and **2WikiMultiHopQA** (Alab-NII/2wikimultihop): ``_id``,
  ``question``, ``answer``, ``type``, ``context`` (title and sentences) and ``supporting_facts``
  (title and number of a sentence). The first has ``level``, the second ``evidences`` (triples).
- **LongBench** (THUDM/LongBench), of all three: ``_id``, ``input``, ``answers``, ``context`` (one
  text with numbered passages) and ``dataset``. It names no supporting passages.
- **JEMHopQA** (aiishii/JEMHopQA): ``qid``, ``type`` (comparison or compositional), ``question``,
  ``answer``, ``derivations`` (subject, predicate, list of objects), and ``time_dependent`` in some.
  ``page_ids`` of Wikipedia are ignored.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from localrag.corpus.readers.json_files import question_contexts
from localrag.corpus.types import Triple
from localrag.errors import InputError
from localrag.evaluation.datasets.readers.entries import Fields, Sources, checked, required, text
from localrag.evaluation.types import ANSWERABLE, Gold, GoldSentence, Question
from localrag.language import N_
from localrag.search.query import check
from localrag.search.types import Filters, Query

_YES_OR_NO = {True: "yes", False: "no", None: ""}

Paragraph = tuple[str, str]
"""Title and text."""


def read_multihop(fields: Fields, known: Sources) -> Question:
    """The question of an entry, without options.

    Its groups are ``type``, ``level``, ``hops`` and ``answerable`` (yes or no), if the format has
    them. Gold places are the supporting paragraphs, by document of the corpus or title. HotpotQA
    and 2WikiMultiHopQA also give gold sentences. An unanswerable question has the answer "".
    """
    if "input" in fields:
        return _longbench(fields, known)
    return _musique(fields, known) if "paragraphs" in fields else _hotpotqa(fields, known)


def _musique(fields: Fields, known: Sources) -> Question:
    id_, answerable = required(fields, "id"), fields.get("answerable")
    if not isinstance(answerable, bool | None):
        raise InputError(N_("The field 'answerable' is neither true nor false."))
    paragraphs = list(question_contexts(dict(fields)))
    supporting = [
        one
        for one, entry in zip(paragraphs, fields["paragraphs"], strict=True)
        if entry.get("is_supporting")
    ]
    steps = fields.get("question_decomposition")
    return _question(
        id_,
        required(fields, "question"),
        []
        if answerable is False
        else [required(fields, "answer"), *_texts(fields, "answer_aliases")],
        {
            "type": id_.partition("__")[0] if "__" in id_ else "",
            "hops": str(len(steps)) if isinstance(steps, list) and steps else "",
            ANSWERABLE: _YES_OR_NO[answerable],
        },
        paragraphs,
        supporting,
        known,
    )


def _hotpotqa(fields: Fields, known: Sources) -> Question:
    facts, triples = fields.get("supporting_facts"), fields.get("evidences")
    match facts:
        case [[str(), _], *_] if all(isinstance(one, list) and one for one in facts):
            titles = dict.fromkeys(str(title) for title, *_sentence in facts)
        case _:
            raise InputError(
                N_("The field 'supporting_facts' is no list of titles and numbers of sentences.")
            )
    paragraphs = list(question_contexts(dict(fields)))
    texts = dict(paragraphs)
    question = _question(
        required(fields, "_id"),
        required(fields, "question"),
        [required(fields, "answer")],
        {
            "type": text(fields, "type"),
            "level": text(fields, "level"),
            "hops": str(len(triples)) if isinstance(triples, list) and triples else "",
        },
        paragraphs,
        # In the setting "fullwiki" supporting paragraphs may be missing.
        [(title, texts.get(title, "")) for title in titles],
        known,
    )
    sentences = (
        GoldSentence(_place((title, texts[title]), known).document, checked("context", one))
        for title, one in _supporting_sentences(facts, dict(fields["context"]))
    )
    return replace(question, sentences=tuple(dict.fromkeys(sentences)))


def _supporting_sentences(
    facts: Iterable[Any], cut: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str]]:
    """Titles with their sentences; some published numbers match no sentence."""
    for title, *numbers in facts:
        for number in numbers:
            if isinstance(number, int) and 0 <= number < len(cut.get(title, ())):
                yield title, cut[title][number]


def _longbench(fields: Fields, known: Sources) -> Question:
    answers = _texts(fields, "answers")
    if not answers:
        raise InputError(N_("The field 'answers' is missing or empty."))
    groups = {"dataset": text(fields, "dataset")}
    id_, asked = required(fields, "_id"), required(fields, "input")
    return _question(id_, asked, answers, groups, question_contexts(dict(fields)), (), known)


def _question(
    id_: str,
    asked: str,
    answers: Iterable[str],
    groups: Mapping[str, str],
    paragraphs: Iterable[Paragraph],
    supporting: Iterable[Paragraph],
    known: Sources,
) -> Question:
    # An empty paragraph is not a document.
    own = known.own_documents(id_, (one for one in map(_checked, paragraphs) if one[1]))
    query = Query(asked, filters=Filters(documents=own))
    check(query)
    answer, *aliases = dict.fromkeys(answers) or [""]
    gold = list(map(_checked, supporting))
    places = [_place(one, known) for one in gold]
    return Question(
        id_,
        query,
        answer,
        "\n\n".join(f"{title}\n{one}" for title, one in gold if one),
        tuple(dict.fromkeys(places)),
        {name: value for name, value in groups.items() if value},
        aliases=tuple(aliases),
    )


def _place(paragraph: Paragraph, known: Sources) -> Gold:
    title, one = _checked(paragraph)
    return Gold(known.document_id(title, one) or title)


def _checked(paragraph: Paragraph) -> Paragraph:
    title, one = paragraph
    return checked("title", title), checked("text", one)


def _texts(fields: Fields, name: str) -> list[str]:
    value: Any = fields.get(name) or []
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise InputError(N_("The field {name!r} is no list of texts."), name=name)
    return [one for one in (checked(name, each) for each in value) if one]


_YES_NO = ("YES", "NO")
_CHANGES = {True: "yes", False: "no", None: ""}


def read_jemhopqa(fields: Fields, known: Sources) -> Question:
    """The question of an entry, without options.

    Its groups are ``type``, ``answer`` (YES/NO or other), ``steps`` (number of triples) and, if
    present, ``time_dependent`` (yes or no).
    """
    del known
    query = Query(required(fields, "question"))
    check(query)
    answer = required(fields, "answer")
    derivation = _derivation(fields.get("derivations"))
    changes = fields.get("time_dependent")
    if not isinstance(changes, bool | None):
        raise InputError(N_("The field 'time_dependent' is neither true nor false."))
    groups = {
        "type": required(fields, "type"),
        "answer": "YES/NO" if answer in _YES_NO else "other",
        "steps": str(len(derivation)),
        "time_dependent": _CHANGES[changes],
    }
    return Question(
        required(fields, "qid"),
        query,
        answer,
        groups={name: value for name, value in groups.items() if value},
        derivation=derivation,
    )


def _derivation(value: Any) -> tuple[Triple, ...]:
    if not isinstance(value, list) or not value:
        raise InputError(N_("The field 'derivations' is no list of triples, or empty."))
    return tuple(_triple(number, one) for number, one in enumerate(value, 1))


def _triple(number: int, value: Any) -> Triple:
    match value:
        case [str(subject), str(predicate), [_, *_] as objects]:
            pass
        case _:
            raise InputError(
                N_(
                    "Triple {n} of its derivations is not a subject, a predicate and a list of "
                    "objects."
                ),
                n=number,
            )
    if not all(isinstance(one, str) for one in objects):
        raise InputError(
            N_("Triple {n} of its derivations has an object that is no text."), n=number
        )
    texts = [checked("derivations", text) for text in (subject, predicate, *objects)]
    if not all(texts):
        raise InputError(N_("Triple {n} of its derivations has an empty part."), n=number)
    return Triple(texts[0], texts[1], tuple(texts[2:]))
