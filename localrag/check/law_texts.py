"""Looks up provisions, their text and their other states for a check."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cached_property, lru_cache
from typing import NamedTuple

from localrag.check.words import bare, letters
from localrag.corpus.states import DocumentInfo
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS, Locator, Passage, caption_of
from localrag.law.names import LawNames, former_titles
from localrag.law.provisions import StoredProvisions, order_of
from localrag.law.resolver import CitationResolver, Target
from localrag.search.history.comparing import Change, ChangeKind, compare
from localrag.search.provision import citation_of, is_deleted

# A text older than this, in years, may have been amended.
_YEARS_PAST = 5
# Amendments add numbers at most this far beyond the last one.
_ARTICLES_ADDED, _INNER_ADDED = 30, 10


class Stood(NamedTuple):
    """A provision in another state of its law, and its place now; None if it is gone."""

    state: DocumentInfo
    passage: Passage
    now: Passage | None


class LawTexts:
    """Cached look-ups in a corpus, on the day of the check."""

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
        self.changes = lru_cache(maxsize=8)(self._changes_from)
        self._others = lru_cache(maxsize=512)(self._other_states)

    @cached_property
    def is_of_today(self) -> bool:
        """Whether the check uses the law of today."""
        return self.store.as_of >= date.today()

    @cached_property
    def former_titles(self) -> Mapping[str, Sequence[str]]:
        """Former titles of laws, with the ids of these laws."""
        known = {
            former: self.names.lookup(title)
            for former, (title, since) in former_titles().items()
            if since <= self.store.as_of and self.names.lookup(title)
        }
        return {**known, **self.store.former_titles()}

    def state(self, law_id: str) -> str:
        """Return the first day of a text in force; "" if unknown."""
        return self.document(law_id).metadata.get("date", "")

    def may_be_later(self, target: Target) -> str:
        """Return the date of an old text if a later one may have a missing provision, else ""."""
        day = self.state(target.law_id)
        if not day or self.document(target.law_id).followed or not self._is_in_reach(target):
            return ""
        since = date.fromisoformat(day)
        is_past = (self.store.as_of - since).days > _YEARS_PAST * 365.25
        return day if is_past else ""

    def last_within(self, outer: Target) -> Locator | None:
        """Return the last provision directly within another, a law or a supplement."""
        place = outer.locator
        if place.article:
            inside = self._provisions.children(outer.law_id, place)
        else:
            articles = self._provisions.articles(outer.law_id, place.division)
            inside = [Locator(place.division, number) for number in articles[-1:]]
        return inside[-1] if inside else None

    def _is_in_reach(self, target: Target) -> bool:
        """Whether an amendment may add a provision: no later text has 第九千条."""
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
        """Return citation, id and state of a provision for a finding; "" for each of None."""
        if passage is None:
            return "", "", ""
        return self.cited(passage), passage.id, self.state(passage.document_id)

    def deleted(self, target: Target) -> bool:
        """Whether only the number of a provision is left."""
        passage = self.at(target)
        return passage is not None and is_deleted(passage)

    def caption(self, target: Target) -> str:
        """Return the caption of an article; "" for anything else."""
        passage = self.at(target) if not target.locator.paragraph else None
        return caption_of(passage.header) if passage and passage.locator.article else ""

    def caption_before(self, target: Target) -> str:
        """Return the nearest caption before an article; one caption may serve several."""
        before = ""
        for passage, _ in self._articles(target.law_id):
            if passage.locator == target.locator:
                break
            if passage.locator.division == target.locator.division:
                before = caption_of(passage.header) or before
        return before

    def captioned(self, law_id: str, caption: str) -> list[Target]:
        """Return the articles of a law under a caption."""
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
        """Return the article of a provision, else the provision itself."""
        place = target.locator
        outer = Locator(place.division, place.article)
        return Target(target.law_id, outer) if outer.path else target

    def other_states(self, target: Target) -> Iterator[tuple[DocumentInfo, Passage]]:
        """Yield a provision in other states of its law, the latest first."""
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
        """Return the innermost provision of an article with the same letters."""
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
        outer = self.article(target)
        for state, passage in self.other_states(outer):
            if is_deleted(passage):
                continue
            now = next(
                (
                    change.after
                    for change in self.changes(state.state_id, target.law_id)
                    if change.before
                    and change.before.locator == passage.locator
                    and change.kind is not ChangeKind.DELETED
                ),
                None,
            )
            return Stood(state, passage, now)
        return None

    def _changes_from(self, before: str, after: str) -> tuple[Change, ...]:
        return compare(self.store.read(before), self.store.read(after))
