"""The extractive reader: answers made of quotations, without a model.

Hits that are not quoted are listed below any answer. They are unchecked, but a
reader of `not_found` would otherwise miss a right hit.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, groupby
from typing import NamedTuple

from localrag.answer.pieces import Piece, joined, pieces_of, with_context
from localrag.answer.support import Answerability, Support, SupportScorer, heading_of, weights_for
from localrag.answer.types import Citation, Nearest, verify
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import PASSAGES, Passage, caption_of
from localrag.search.pipeline import Retriever
from localrag.search.query import analyzer
from localrag.search.reading import Reading, Retrieval
from localrag.search.types import Hit, Link, Query
from localrag.search.units import article_unit, target_of
from localrag.text.harmless import cut
from localrag_indexes.fusion import in_turn

_PENAL = re.compile(r"(?:懲役|拘禁刑|禁錮|罰金|拘留|科料|過料)[^。\n]{0,40}(?:処する|科する)")
_SANCTION = re.compile(r"(?:過怠税|加算税|延滞税|課徴金)[^。\n]{0,60}(?:徴収|課する|納付)")
_IN_A_WORD = "[一-鿿々ァ-ヶー]"
# Bonus of a provision with the figure or penalty asked for; full coverage of the question is worth
# 2.
_STATES = 0.5


def _fit(piece: Piece, reading: Reading) -> float:
    """The bonus of a provision for stating what is asked for."""
    if piece.passage.layer == PASSAGES:
        return 0.0
    figure, penalty = reading.figure, reading.penalty
    states = figure is not None and figure.stated_in(piece.text)
    punishes = penalty is not None and states_sanction(piece)
    return _STATES * (states + punishes)


def states_sanction(piece: Piece) -> bool:
    """Whether a provision states the consequence of a breach: a punishment, a surcharge."""
    texts = (piece.text, *piece.before)
    return any(_PENAL.search(text) or _SANCTION.search(text) for text in texts)


def _says_something(term: str) -> bool:
    return re.fullmatch("[ぁ-ゖ]+|[a-z]+", term) is None


# Linked provisions quoted first: a penalty is often in two, the graver one first.
_FIRST = 2


def with_linked(store: CorpusStore, chosen: Sequence[Piece], retrieval: Retrieval) -> list[Piece]:
    """Add the linked provisions to the pieces chosen, at their places.

    Args:
        store: the corpus store.
        chosen: supporting pieces, best first; with none, nothing is placed behind.
        retrieval: that they were chosen from.
    """
    if not chosen:
        return []
    first: list[Piece] = []
    rest = list(chosen)
    # A chosen piece with a sanction of its own takes one of their places.
    room = _FIRST - (retrieval.reading.penalty is not None and states_sanction(rest[0]))
    for link in retrieval.links:
        piece = _piece(store, link, retrieval)
        if piece is None:
            continue
        if link.comes_first and len(first) < room:
            first.append(piece)
        elif not link.comes_first:
            place = _behind(link, rest, retrieval)
            rest[place:place] = [piece] if place else []
    return list({(one.start, one.passage.id): one for one in (*first, *rest)}.values())


def _piece(store: CorpusStore, link: Link, retrieval: Retrieval) -> Piece | None:
    """The linked piece with the citation or the caption; None without its hit."""
    for hit in retrieval.hits:
        if hit.passage.id == link.unit and not hit.beside:
            pieces = pieces_of(store, hit.passage)
            return next((piece for piece in pieces if piece.end > link.position), None)
    return None


def _behind(link: Link, pieces: Sequence[Piece], retrieval: Retrieval) -> int:
    """The position behind the linking provision and all provisions named; 0 if absent."""
    units = [_unit(piece) for piece in pieces]
    if link.other not in units:
        return 0
    named = {article_unit(target.law_id, target.locator) for target in retrieval.reading.named}
    return 1 + max(units.index(unit) for unit in {link.other, *named} if unit in units)


def _unit(piece: Piece) -> str:
    return article_unit(piece.passage.document_id, piece.passage.locator)


QUOTES = 3
"""Most quotations, without their context, unless the question cites more provisions."""

# Most cited provisions quoted; longest one quoted whole, in characters.
_MOST_CITED, _LONGEST_CITED = 6, 4000
# Minimum coverage of a further quotation relative to the best. With .6 a sixth more articles are
# quoted, and of 344 questions one fewer has the right one among the first two.
_WORTH_QUOTING = 0.75


class _Candidate(NamedTuple):
    """A piece with its support, its passage and its bonus."""

    piece: Piece
    support: Support
    fit: float
    passage: Passage

    @property
    def total(self) -> float:
        return self.support.score + self.fit


class Quotations(NamedTuple):
    """The quotations for a question.

    Attributes:
        citations: provisions cited in the question, in order; then others by support, each after
            its
            context. Empty if nothing is near enough.
        probability: that the best one answers, 0 to 1.
        signs: of this probability (`localrag.answer.support`); empty without hits.
        left_out: number of cited provisions not quoted.
    """

    citations: tuple[Citation, ...]
    probability: float
    signs: Mapping[str, float]
    left_out: int = 0


def quotations(retriever: Retriever, retrieval: Retrieval) -> Quotations:
    """Quote the best supporting provisions or sentences.

    At most `QUOTES`, or all provisions cited in the question if these are more.

    Args:
        retriever: that found the evidence; one thread at a time.
        retrieval: the result for the question.
    """
    if retrieval.searches:
        return _in_turn(retriever, retrieval)
    reading = retrieval.reading
    # If the provision named is missing from a law named, no hit answers.
    missing = reading.laws and reading.missing and not reading.named
    candidates = [] if missing else _candidates(retriever, retrieval)
    if reading.undefined:
        candidates = [one for one in candidates if _uses_the_term(one, reading)]
    plain = bool(retrieval.cited) and reading.asks_no_more
    words = _words_beside(reading)
    cited = _cited(retriever.store, candidates, retrieval, words)
    if not candidates:
        return Quotations(quoted(retriever.store, cited), 0.0, {}, _left_out(retrieval))
    ranked = sorted(candidates, key=lambda candidate: -candidate.support.score)
    answerability = Answerability(retrieval, retriever.inverse_document_frequency)
    best = ranked[0]
    signs = answerability.signs(best.piece, best.passage, best.support.coverage)
    weights = weights_for(signs)
    probability = weights.probability(signs)
    ranked.sort(key=lambda candidate: -candidate.total)
    worth_it = probability >= weights.quoted_from and not plain
    chosen = _choose(ranked, retrieval) if worth_it else []
    if cited:
        # Skip provisions that only share the number of a cited provision.
        units = {_unit(piece) for piece in cited}
        captions = {one.passage.id: caption_of(one.passage.header) for one in candidates}
        chosen = [
            one
            for one in chosen
            if _unit(one) in units or _has_any(one, words, captions.get(_unit(one), ""))
        ]
    chosen = [*cited, *(piece for piece in chosen if not _in_any(piece, cited))]
    linked = with_linked(retriever.store, chosen, retrieval)
    chosen = [*cited, *(piece for piece in linked if not _in_any(piece, cited))]
    chosen = chosen[: max(QUOTES, len(cited))]
    return Quotations(quoted(retriever.store, chosen), probability, signs, _left_out(retrieval))


def _in_turn(retriever: Retriever, retrieval: Retrieval) -> Quotations:
    """Quotations of each search in turn, each provision once, the question's own first."""
    each = [quotations(retriever, found) for found in retrieval.searches]
    own = each[0]
    articles = list(dict.fromkeys(in_turn(_by_article(one.citations) for one in each)))
    most = max(QUOTES, len(_by_article(own.citations)) if retrieval.cited else 0)
    citations = dict.fromkeys(chain.from_iterable(articles[:most]))
    likeliest = max(each, key=lambda one: one.probability)
    return likeliest._replace(citations=tuple(citations), left_out=own.left_out)


def _by_article(citations: Sequence[Citation]) -> list[tuple[Citation, ...]]:
    """Group consecutive citations of one article."""

    def article(citation: Citation) -> str:
        target = target_of(citation.passage_id)
        return article_unit(target.law_id, target.locator)

    return [tuple(some) for _, some in groupby(citations, article)]


def _cited(
    store: CorpusStore,
    candidates: Sequence[_Candidate],
    retrieval: Retrieval,
    words: frozenset[frozenset[str]],
) -> list[Piece]:
    """Quotations of the provisions cited in the question, in order.

    A paragraph or item is quoted whole. So is an article without any word of the rest of the
    question: no paragraph is better than another (友人に聞いた民法404条). Otherwise, and if too
    long, the best piece.

    Args:
        store: the corpus store.
        candidates: pieces of the hits.
        retrieval: with the citations.
        words: the rest of the question.
    """
    ranked = sorted(candidates, key=lambda candidate: -candidate.total)
    pieces: list[Piece] = []
    for target in retrieval.cited[:_MOST_CITED]:
        unit = store.by_id(article_unit(target.law_id, target.locator))
        every = pieces_of(store, unit) if unit else []
        inside = [one for one in every if target.locator.contains(one.passage.locator)]
        # Items inside a provision of one piece are quoted with it.
        inside = (
            inside or [one for one in every if one.passage.locator.contains(target.locator)][-1:]
        )
        if not (unit and inside):
            continue
        full = joined(store.at(target.law_id, target.locator) or unit, inside)
        whole = target.locator.paragraph or not any(_has_any(one, words) for one in inside)
        if whole and len(full.text) <= _LONGEST_CITED:
            pieces.append(full)
        else:
            best = (one.piece for one in ranked if one.piece in inside)
            pieces.append(next(best, inside[0]))
    return list(dict.fromkeys(pieces))


def _words_beside(reading: Reading) -> frozenset[frozenset[str]]:
    """Terms of the question besides laws and provisions.

    A statutory counterpart of an everyday word may have several.
    """
    phrases = (phrase for wording in reading.everyday for phrase in wording.phrases)
    words = [[term] for term in analyzer().terms(reading.beside)]
    words += [analyzer().terms(phrase) for phrase in phrases]
    said = (frozenset(filter(_says_something, word)) for word in words)
    return frozenset(filter(None, said))


def _has_any(piece: Piece, words: frozenset[frozenset[str]], caption: str = "") -> bool:
    texts = (piece.text, *piece.before, caption)
    terms = {term for text in texts for term in analyzer().terms(text)}
    return any(word <= terms for word in words)


def _uses_the_term(candidate: _Candidate, reading: Reading) -> bool:
    """Whether a provision has the term asked about, or its statutory counterpart.

    The term must be a word of its own (魔法 is not in 魔法瓶); 解雇予告 matches 解雇の予告. It may
    be in a predicted question (整理解雇) or the caption, there also inside a longer word (代理行為)
    or nearly whole (同時履行の抗弁 for 同時履行の抗弁権).
    """
    term, piece = reading.undefined, candidate.piece
    parts = [re.escape(term[one.start : one.end]) for one in analyzer().tokens(term)]
    word = re.compile(rf"(?<!{_IN_A_WORD}){'[ぁ-ん]{0,3}'.join(parts)}(?!{_IN_A_WORD})")
    caption = caption_of(candidate.passage.header)
    if any(map(word.search, (piece.text, *piece.before, heading_of(candidate.passage)))):
        return True
    instead = (
        frozenset(analyzer().terms(phrase))
        for wording in reading.everyday
        if wording.said == term
        for phrase in wording.phrases
    )
    asked, captioned = set(analyzer().terms(term)), set(analyzer().terms(caption))
    in_caption = asked <= captioned or (len(captioned) > 1 and captioned <= asked)
    return in_caption or _has_any(piece, frozenset(instead), caption)


def _left_out(retrieval: Retrieval) -> int:
    return max(0, len(retrieval.cited) - _MOST_CITED)


def _in_any(piece: Piece, others: Sequence[Piece]) -> bool:
    """Whether one of some pieces contains a piece or is part of it."""
    return any(
        piece.passage.document_id == other.passage.document_id
        and piece.start < other.end
        and other.start < piece.end
        for other in others
    )


def _candidates(retriever: Retriever, retrieval: Retrieval) -> list[_Candidate]:
    reading, weight = retrieval.reading, retriever.inverse_document_frequency
    asked, wordings = reading.matter, reading.everyday
    scorer = SupportScorer(asked, weight, wordings)
    best = max((hit.score for hit in retrieval.hits), default=0.0) or 1.0
    candidates = []
    for hit in retrieval.hits:
        if hit.beside:
            continue
        pieces = pieces_of(retriever.store, hit.passage)
        supports = scorer.score(pieces, heading_of(hit.passage), hit.score / best)
        for piece, support in zip(pieces, supports, strict=True):
            candidates.append(_Candidate(piece, support, _fit(piece, reading), hit.passage))
    return candidates


def _is_named(piece: Piece, retrieval: Retrieval) -> bool:
    return any(
        target.law_id == piece.passage.document_id
        and target.locator.contains(piece.passage.locator)
        for target in retrieval.reading.named
    )


def _choose(ranked: Sequence[_Candidate], retrieval: Retrieval) -> list[Piece]:
    """The pieces worth quoting: leading ones first, at most `QUOTES` without their context.

    Leading pieces define the term asked about, or are the best of each law named.

    Args:
        ranked: best first, at least one.
        retrieval: with definitions and laws.
    """
    leaders = _of_each_law(ranked, retrieval) or _defining(ranked, retrieval)
    least = _WORTH_QUOTING * ranked[0].support.coverage
    chosen: list[Piece] = []
    for one in [*leaders, *(one for one in _spread(ranked) if one not in leaders)]:
        if one in leaders or one.support.coverage >= least:
            chosen.append(one.piece)
        # The context of a quotation is quoted anyway.
        under = {id(above) for piece in chosen for above in piece.above}
        if sum(id(piece) not in under for piece in chosen) == QUOTES:
            break
    return chosen


def _spread(ranked: Sequence[_Candidate]) -> list[_Candidate]:
    """Put the best piece of a second provision in place two.

    If the first provision only resembles the right one, its other paragraphs do not help.
    """
    if not ranked or ranked[0].piece.passage.layer == PASSAGES:
        return list(ranked)
    first, *rest = ranked
    second = next((one for one in rest if one.passage.id != first.passage.id), None)
    return [first, *([second] if second else []), *(one for one in rest if one is not second)]


def _of_each_law(ranked: Sequence[_Candidate], retrieval: Retrieval) -> list[_Candidate]:
    """The best piece of each of several laws named, in its provision if one is named."""
    laws = [law_ids for law_ids in dict.fromkeys(law.law_ids for law in retrieval.laws) if law_ids]
    every = [[one for one in ranked if one.passage.document_id in law_ids] for law_ids in laws]
    if len(laws) < 2:
        return []
    named = [[one for one in some if _is_named(one.piece, retrieval)] for some in every]
    return [one for own, some in zip(named, every, strict=True) for one in (own or some)[:1]]


def _defining(ranked: Sequence[_Candidate], retrieval: Retrieval) -> list[_Candidate]:
    """Definitions of the term asked about, in order."""
    defining = (
        one
        for definition in retrieval.reading.resolved.meaning.definitions
        for one in ranked
        if one.piece.passage.document_id == definition.document_id
        and one.piece.start <= definition.start < one.piece.end
    )
    return list(dict.fromkeys(defining))


def quoted(store: CorpusStore, pieces: Sequence[Piece]) -> tuple[Citation, ...]:
    """Citations of pieces as in the document, each with its context."""
    return tuple(
        verify(
            store,
            Citation(one.passage.id, one.text, start=one.start, end=one.end, label=one.label),
        )
        for one in with_context(pieces)
    )


MOST = 5
"""Most passages listed below an answer."""

# Words of questions about supplementary provisions.
_FORMS = re.compile("様式|書式|ひな形|雛形|記載例")
_SUPPLEMENT = re.compile(
    r"附則|施行(?:日|期日|は|され)|経過措置|改正"
    r"|\b(?:supplementary|transitional|come into force)\b",
    re.IGNORECASE,
)
_WIDTH = 80
"""Most cells for the beginning of a passage: 40 Japanese characters."""

Found = Sequence[tuple[Query, Sequence[Hit]]]
"""The hits of searches, best first, each with its query."""


def nearest(asked: Query, found: Found, quoted: Iterable[Citation]) -> tuple[Nearest, ...]:
    """The passages nearest to a question that its answer does not quote.

    They come from the last search for the whole question. If a method searched only for parts, the
    parts take turns. Hits outside the laws named are left out; forms (様式) and supplementary
    provisions (附則) too, unless asked for.

    Args:
        asked: the question.
        found: the searches of its method, in order.
        quoted: citations of its answer.

    Returns:
        At most `MOST`, best first, no passage twice.
    """
    cited = [one for one in quoted if one.verified]
    passages = {
        hit.passage.id: hit.passage
        for hit in _ranked(asked, found)
        if not hit.beside
        and not (_is_form(hit.passage) and not _FORMS.search(asked.text))
        and not (_is_supplementary(hit.passage) and not _SUPPLEMENT.search(asked.text))
        and not any(_holds(hit.passage, one) for one in cited)
    }
    return tuple(
        Nearest(one.id, one.header, _beginning(one)) for one in list(passages.values())[:MOST]
    )


def _ranked(asked: Query, found: Found) -> Iterable[Hit]:
    last = {(query.text, query.options): hits for query, hits in found if hits}
    whole = last.get((asked.text, asked.options))
    return whole or in_turn(last.values())


def _is_form(passage: Passage) -> bool:
    """Whether a passage is a form or a sample of one."""
    # The title of a law may have such a word, too.
    in_header = _FORMS.search(passage.header.partition(" ")[2])
    return passage.locator.division.startswith("appendix") and in_header is not None


def _is_supplementary(passage: Passage) -> bool:
    return passage.locator.division.startswith("suppl")


def _holds(passage: Passage, citation: Citation) -> bool:
    document = citation.passage_id.rpartition("#")[0]
    within = passage.start <= citation.start < passage.end
    return document == passage.document_id and within


def _beginning(passage: Passage) -> str:
    words = passage.text.split()
    if passage.locator.path:
        # The label already has the place and the caption.
        told = next((n for n, word in enumerate(words) if word not in passage.header), 0)
        words = words[told:]
    return cut(" ".join(words), _WIDTH)
