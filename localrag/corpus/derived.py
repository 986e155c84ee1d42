"""What is asked of what indexing derived: edges between provisions, definitions of terms."""

from localrag.corpus import links
from localrag.corpus.browsing import Browsing
from localrag.corpus.links import REFERENCES, Connection, Definition, Reference
from localrag.corpus.types import Locator


class Derived(Browsing):
    """Where provisions lead, what leads to them, and where terms are defined."""

    @property
    def links_generation(self) -> int:
        """The generation that references and definitions were derived from; -1 before."""
        return self._meta("links_generation")

    def references_from(self, document_id: str, locator: Locator, *kinds: str) -> list[Reference]:
        """List the edges of a provision and of what stands inside it, in reading order.

        Args:
            document_id: the document.
            locator: the provision.
            kinds: of the edges; what the text cites and leaves to orders where none is named.
        """
        key = self._require(document_id)
        return links.references_from(self._db, key, locator.path, kinds or REFERENCES)

    def references_to(self, document_id: str, locator: Locator, *kinds: str) -> list[Reference]:
        """List the edges to a provision or to something inside it, also as part of a range."""
        key = self._require_work(document_id)
        return links.references_to(self._db, key, locator.path, kinds or REFERENCES)

    def connections_from(self, document_id: str, locator: Locator, limit: int) -> list[Connection]:
        """List where the references of a provision lead, `limit` at most.

        Like `connections_to` it gives nothing for an unknown document.
        """
        key = self._key(document_id) or 0
        return links.connections_from(self._db, key, locator.path, limit)

    def connections_to(self, document_id: str, locator: Locator, limit: int) -> list[Connection]:
        """List what refers to a provision or to something inside it, `limit` at most."""
        return links.connections_to(self._db, self._work(document_id), locator.path, limit)

    def definitions_of(self, term: str) -> list[Definition]:
        """List where a term, written exactly so, is defined."""
        return links.definitions_of(self._db, term)

    def definitions_in(self, document_id: str) -> list[Definition]:
        """List the terms a document defines, in reading order."""
        return links.definitions_in(self._db, self._require(document_id))

    def documents_referring(self, law_id: str, kind: str) -> list[str]:
        """Ids of the documents that refer to a law in this way (``delegated-by``)."""
        rows = self._db.rows(
            "SELECT DISTINCT id FROM reached JOIN edges ON edges.key = edge"
            " JOIN shown ON shown.key = edges.document"
            " WHERE reached.law = ? AND edges.kind = ? ORDER BY shown.key",
            (self._work(law_id), kind),
        )
        return [row[0] for row in rows]

    def _require_work(self, document_id: str) -> int:
        # What is of no work is not there at all.
        return self._work(document_id) or self._require(document_id)
