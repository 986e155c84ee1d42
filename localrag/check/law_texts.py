"""The laws of a corpus as a check asks for them: provisions, their words, their other states."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cached_property, lru_cache
from typing import NamedTuple

from localrag.check.words import bare, letters
from localrag.corpus.states import DocumentInfo
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS, Locator, Passage
from localrag.law.names import LawNames, former_titles
from localrag.law.notation import caption_of
from localrag.law.provisions import StoredProvisions, order_of
from localrag.law.resolver import CitationResolver, Target
from localrag.search.history.comparing import Change, ChangeKind, compare
from localrag.search.provision import citation_of, is_deleted

# A text that is so many years older than the day may have been amended.
_YEARS_PAST = 5
# So much further than the last number of a text those go that amendments add.
_ARTICLES_ADDED, _INNER_ADDED = 30, 10


class Stood(NamedTuple):
    """What became of a provision that another state of its law has.

    Attributes:
        state: the state that has it.
        passage: as it stands there.
        now: where it stands in the state of the day; None where it is gone.
    """

    state: DocumentInfo
    passage: Passage
    now: Passage | None


class LawTexts:
    """What a check asks of a corpus; everything is asked once.

    Args:
        store: the corpus, on the day of the check.
    """

    def __init__(self, store: CorpusStore) -> None:
        self.store = store
        self.names = LawNames.from_rows(store.laws())
        self._provisions = StoredProvisions(store, self.names)
        self.resolver = CitationResolver(self.names, self._provisions)
        self.document = lru_cache(maxsize=512)(store.document)
        self.at = lru_cache(maxsize=4096)(self._at)
        self.cited = lru_cache(maxsize=4096)(self._cited)
        self.holding = lru_cache(maxsize=4096)(self._holding)
        self.stood = lru_cache(maxsize=256)(self._stood)
        self._articles = lru_cache(maxsize=64)(self._articles_of)
        self._changes = lru_cache(maxsize=8)(self._changes_from)
        self._others = lru_cache(maxsize=512)(self._other_states)

    @cached_property
    def is_of_today(self) -> bool:
        """Whether the check is against the law of today, not of a day before."""
        return self.store.as_of >= date.today()

    @cached_property
    def former_titles(self) -> Mapping[str, Sequence[str]]:
        """Titles that laws of the corpus do not bear on the day, with the ids of these laws."""
        known = {
            former: self.names.lookup(title)
            for former, (title, since) in former_titles().items()
            if since <= self.store.as_of and self.names.lookup(title)
        }
        return {**known, **self.store.former_titles()}

    def state(self, law_id: str) -> str:
        """The day from which the text of a law is in force; "" where that is not known."""
        return self.document(law_id).metadata.get("date", "")

    def may_be_later(self, target: Target) -> str:
        """The day of a text so old that a later one may have what it lacks; "" of any other.

        What amendments add stands close to what is there: no later text has a 第九千条.
        """
        day = self.state(target.law_id)
        if not day or self.document(target.law_id).followed or not self._is_in_reach(target):
            return ""
        since = date.fromisoformat(day)
        is_past = (self.store.as_of - since).days > _YEARS_PAST * 365.25
        return day if is_past else ""

    def last_within(self, outer: Target) -> Locator | None:
        """The last provision right inside another one, or of a law or a supplement; None for none.

        Args:
            outer: an article, a paragraph or an item; without an article the law or the supplement.
        """
        place = outer.locator
        if place.article:
            inside = self._provisions.children(outer.law_id, place)
        else:
            articles = self._provisions.articles(outer.law_id, place.division)
            inside = [Locator(place.division, number) for number in articles[-1:]]
        return inside[-1] if inside else None

    def _is_in_reach(self, target: Target) -> bool:
        """Whether an amendment may add a provision, by the numbers of those that are there."""
        law_id, place = target.law_id, target.locator
        articles = self._provisions.articles(law_id, place.division)
        if place.article and place.article not in articles:
            main, *branches = order_of(place.article)
            orders = [order_of(number) for number in articles]
            last = max((order[0] for order in orders if order), default=0)
            beside = [order[-1] for order in orders if order[:-1] == [main, *branches[:-1]]]
            in_reach = not branches or branches[-1] <= max(beside, default=1) + _ARTICLES_ADDED
            return in_reach and main <= last + _ARTICLES_ADDED
        outer, wanted = Locator(place.division, place.article), place.paragraph
        inside = self._provisions.children(law_id, outer)
        if place.item and any(one.paragraph == place.paragraph for one in inside):
            outer, wanted = replace(outer, paragraph=place.paragraph), place.item
            inside = self._provisions.children(law_id, outer)
        numbers = [order_of(one.item or one.paragraph)[:1] for one in inside]
        last = max((number for row in numbers for number in row), default=0)
        return order_of(wanted)[:1] <= [last + _INNER_ADDED]

    def told(self, passage: Passage | None) -> tuple[str, str, str]:
        """A provision as a finding tells it: its citation, its id and its state; "" of none."""
        if passage is None:
            return "", "", ""
        return self.cited(passage), passage.id, self.state(passage.document_id)

    def deleted(self, target: Target) -> bool:
        """Whether nothing is left of a provision but its number."""
        passage = self.at(target)
        return passage is not None and is_deleted(passage)

    def caption(self, target: Target) -> str:
        """The caption of an article; "" for none, and for what stands in an article."""
        passage = self.at(target) if not target.locator.paragraph else None
        return caption_of(passage.header) if passage and passage.locator.article else ""

    def caption_before(self, target: Target) -> str:
        """The caption nearest before an article: one may stand before several articles."""
        before = ""
        for passage, _ in self._articles(target.law_id):
            if passage.locator == target.locator:
                break
            if passage.locator.division == target.locator.division:
                before = caption_of(passage.header) or before
        return before

    def captioned(self, law_id: str, caption: str) -> list[Target]:
        """The articles of a law under a caption."""
        wanted = letters(caption)
        return [
            Target(law_id, passage.locator)
            for passage, _ in self._articles(law_id)
            if letters(caption_of(passage.header)) == wanted
        ]

    def _holding(self, law_id: str, words: str) -> Passage | None:
        for passage, held in self._articles(law_id):
            if words in held:
                return self.holding_in(passage, words)
        return None

    def article(self, target: Target) -> Target:
        """The article that a provision stands in; itself where it stands in none."""
        place = target.locator
        outer = Locator(place.division, place.article)
        return Target(target.law_id, outer) if outer.path else target

    def other_states(self, target: Target) -> Iterator[tuple[DocumentInfo, Passage]]:
        """A provision as other states of its law have it, the latest first."""
        for state in self._others(target.law_id):
            if passage := self.store.at(state.state_id, target.locator):
                yield state, passage

    def _at(self, target: Target) -> Passage | None:
        return self.store.at(target.law_id, target.locator)

    def _cited(self, passage: Passage) -> str:
        return citation_of(self.store, passage)

    def _articles_of(self, law_id: str) -> list[tuple[Passage, str]]:
        passages = self.store.passages(layer=ARTICLES, document_id=law_id)
        return [(passage, letters(bare(passage.text))) for _, passage in passages]

    def holding_in(self, article: Passage, words: str) -> Passage:
        """The most exact provision of an article that has some letters, as the article has."""
        inner = [
            passage
            for layer in (PARAGRAPHS, ITEMS)
            for passage in self.store.within(article.document_id, article.locator, layer)
            if article.locator.path and words in letters(bare(passage.text))
        ]
        return min(inner, key=lambda passage: passage.end - passage.start, default=article)

    def _other_states(self, law_id: str) -> list[DocumentInfo]:
        shown = self.document(law_id).key
        return [state for state in reversed(self.store.states(law_id)) if state.key != shown]

    def _stood(self, target: Target) -> Stood | None:
        """What became of an article that the law lacks today, where another state has it."""
        outer = self.article(target)
        for state, passage in self.other_states(outer):
            if is_deleted(passage):
                continue
            now = next(
                (
                    change.after
                    for change in self._changes(state.state_id, target.law_id)
                    if change.before
                    and change.before.locator == passage.locator
                    and change.kind is not ChangeKind.DELETED
                ),
                None,
            )
            return Stood(state, passage, now)
        return None

    def _changes_from(self, state_id: str, law_id: str) -> tuple[Change, ...]:
        before, after = self.store.read(state_id), self.store.read(law_id)
        return compare(before, after)
