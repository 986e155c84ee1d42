"""Whether a provision is the one a question asks for, beside the words that they share.

Many provisions of a statute repeat the words of one rule: those that apply it to other cases, that
order what follows from it, that punish its breach. The rule itself has the topic in its caption,
and states the time or the amount that is asked for.
"""

import re
from collections.abc import Callable, Sequence

from localrag.corpus.model import PASSAGES
from localrag.question.asked import figure_asked, penalty_asked
from localrag.question.everyday import EverydayWord
from localrag.question.expectation import Expectation
from localrag.reading.pieces import Piece
from localrag.retrieval.query import analyzer

_CAPTION = re.compile(r"（([^（）]+)）$")
_KANJI = "[〇一二三四五六七八九十百千]"
# 第三条の規定は、…について準用する; この場合において、…とあるのは「…」と読み替える
_APPLIES = re.compile(r"準用する。|読み替えるものとする")
_PENAL = re.compile(r"(?:懲役|拘禁刑|禁錮|罰金|拘留|科料|過料)[^。\n]{0,40}(?:処する|科する)")
_SANCTION = re.compile(r"(?:過怠税|加算税|延滞税|課徴金)[^。\n]{0,60}(?:徴収|課する|納付)")
# Whether something must, may or must not be done, and how statutes say so.
_MODAL = tuple(
    (re.compile(asks), re.compile(says))
    for asks, says in (
        (r"必要|要る|要り|義務|しなければ|ないといけない|べき|\b(?:must|required?|obliged)\b",
         r"なければならない|ものとする"),
        (r"(?:よい|いい|可能|大丈夫|許され|できる|構わない|いけな|ならな)[^。]{0,4}[かの?？]|禁止"
         r"|\b(?:may|can|allowed|permitted|prohibited)\b",
         r"てはならない|ことができ|なければ"),
    )
)  # fmt: skip
# 第三十九条　, ２　; and what opens with other paragraphs goes on from a rule that stands there.
_MARK = re.compile(r"^[^　\n]{1,20}　")
_LEANS = re.compile(
    rf"(?:前[各二三]?[条項]|第{_KANJI}+[条項]|この条|同[条項])[^。]{{0,20}}?"
    "(?:の規定|に規定|の場合|の許可|に掲げ)"
)
_SUPPLEMENT = "附則"

# Against a share of the question covered, which counts 2: what a caption that is the question
# counts, the time, amount or penalty asked for, the duty or permission; and, less, what only
# applies, punishes, transitionally keeps or leans on a rule.
_CAPTIONED, _STATES, _SAYS_SO = 0.5, 0.5, 0.2
_ELSEWHERE, _LEANING = 0.4, 0.1


class Topic:
    """What a question asks for, of the provisions of statutes.

    Args:
        asked: the question without the names of laws.
        wordings: its everyday words.
        inverse_document_frequency: how much a term says in the corpus.
        penalty: whether it asks for a penalty, whose words are no part of `asked`.
    """

    def __init__(
        self,
        asked: str,
        wordings: Sequence[EverydayWord],
        inverse_document_frequency: Callable[[str], float],
        *,
        penalty: bool = False,
    ) -> None:
        self._weight = inverse_document_frequency
        expectation = Expectation.of(asked)
        self._terms = {one for one in analyzer().terms(expectation.rest) if _says_something(one)}
        self._phrases = [
            [set(analyzer().terms(phrase)) for phrase in (wording.said, *wording.phrases)]
            for wording in wordings
        ]
        for wording in wordings:
            self._terms -= set(analyzer().terms(wording.said))
        self._said = [self._sum(analyzer().terms(wording.said)) for wording in wordings]
        self._figure = figure_asked(asked)
        self._applies = "準用" in asked or "読み替え" in asked
        self._penal = penalty or penalty_asked(asked) is not None
        self._modal = next((says for asks, says in _MODAL if asks.search(asked)), None)
        self._supplement = _SUPPLEMENT in asked

    def fit(self, piece: Piece, header: str) -> float:
        """What speaks for a piece, more than 0, or against it, less; 0 of what is no statute.

        Args:
            piece: part of a provision.
            header: where the provision stands, with its caption.
        """
        if piece.passage.layer == PASSAGES:
            return 0.0
        fit = _CAPTIONED * self._captioned(header)
        if self._figure is not None:
            fit += _STATES * self._figure.stated_in(piece.text)
        if not self._applies and _APPLIES.search(piece.text):
            fit -= _ELSEWHERE
        penal = any(map(_PENAL.search, (piece.text, *piece.before)))
        if penal and not self._penal:
            fit -= _ELSEWHERE
        elif self._penal and (penal or states_sanction(piece)):
            fit += _STATES
        if self._modal is not None and self._modal.search(piece.text):
            fit += _SAYS_SO
        if _LEANS.match(_MARK.sub("", piece.text)):
            fit -= _LEANING
        if not self._supplement and piece.passage.locator.division.startswith("suppl"):
            fit -= _ELSEWHERE
        return fit

    def _captioned(self, header: str) -> float:
        """How far question and caption are one, 0 to 1: by the weight of the terms they share."""
        caption = _CAPTION.search(header)
        if caption is None:
            return 0.0
        terms = set(analyzer().terms(caption[1]))
        asked = self._sum(self._terms) + sum(self._said)
        shared = terms & self._terms
        held = self._sum(shared)
        for said, phrases in zip(self._said, self._phrases, strict=True):
            best = max(phrases, key=lambda one: len(one & terms) / (len(one) or 1), default=set())
            held += said * len(best & terms) / (len(best) or 1)
            shared |= set().union(*phrases) & terms
        total = asked + self._sum(terms)
        return (held + self._sum(shared)) / total if total else 0.0

    def _sum(self, terms: Sequence[str] | set[str]) -> float:
        return sum(self._weight(term) for term in set(terms))


def states_sanction(piece: Piece) -> bool:
    """Whether a provision itself says what a breach leads to: a punishment, a surcharge."""
    texts = (piece.text, *piece.before)
    return any(_PENAL.search(text) or _SANCTION.search(text) for text in texts)


def _says_something(term: str) -> bool:
    return re.fullmatch("[ぁ-ゖ]+|[a-z]+", term) is None
