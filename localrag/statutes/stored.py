"""The provisions of the laws in a corpus store, as the resolver asks for them."""

from collections.abc import Mapping, Sequence

from localrag.corpus.lookups import Lookups
from localrag.corpus.model import ITEMS, PARAGRAPHS, Locator
from localrag.statutes.names import LawNames
from localrag.statutes.provisions import container


class StoredProvisions:
    """A `ProvisionLookup` over a corpus store."""

    def __init__(self, store: Lookups, names: LawNames) -> None:
        self._store = store
        self._names = names

    def exists(self, law_id: str, locator: Locator) -> bool:
        """Whether the law has exactly this provision."""
        return self._store.provision_exists(law_id, locator)

    def articles(self, law_id: str, division: str) -> Sequence[str]:
        """Article numbers of one division, in printed order."""
        return self._store.articles(law_id, division)

    def children(self, law_id: str, locator: Locator) -> Sequence[Locator]:
        """What stands right inside a provision, in printed order."""
        layer = ITEMS if locator.paragraph else PARAGRAPHS
        inside = dict.fromkeys(self._store.locators(law_id, locator, layer))
        return [place for place in inside if container(place) == locator]

    def divisions(self, law_id: str) -> Mapping[str, str]:
        """The divisions besides the main provisions, as printed, in order."""
        title = self._names.title(law_id)
        return {
            division: (header.removeprefix(title).split() or [""])[0]
            for division, header in self._store.divisions(law_id).items()
        }
