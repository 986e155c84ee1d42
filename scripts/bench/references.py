"""The graph of references: number, kinds, existing targets, time.

The statutes are the 327 laws of ``egov/xml``, or with ``--all-laws`` the 4,155 of
``egov/all_laws.jsonl.xz``.
"""

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.options import parser
from bench.rates import rate

from localrag.corpus.links import APPLIES, DELEGATED_BY, REFERS, Reference
from localrag.corpus.readers import ReadFailure, read, supported
from localrag.corpus.types import Document, Locator
from localrag.law.definitions import extract_definitions
from localrag.law.names import LawNames
from localrag.law.provisions import appendices, label_of
from localrag.law.references import extract_references

_SOURCES = ("cited in main provisions", "cited in supplements and appendices")
_APPENDICES = "appendices and forms cited"


def main() -> None:
    """Read the statutes twice: for their names and places, then for their references."""
    options = parser(__doc__)
    options.add_argument("--all-laws", action="store_true", help="4,155 laws instead of 327")
    arguments = options.parse_args()
    data = arguments.data / "egov" / ("all_laws.jsonl.xz" if arguments.all_laws else "xml")

    rows, places, labels = [], {}, {}
    for document in statutes(data):
        about = document.metadata
        number, kind_of_law = about.get("law_num", ""), about.get("law_type", "")
        short = about.get("abbreviations", "")
        rows.append((document.id, document.title, number, kind_of_law, short))
        places[document.id] = frozenset(passage.locator for passage in document.passages)
        labels[document.id] = frozenset(
            label for (_, label), division in appendices(document).items() if division
        )
    clock = time.process_time()
    names = LawNames.from_rows(rows)
    print(f"names of {len(rows)} laws: {time.process_time() - clock:.3f} s CPU")

    kinds: Counter[tuple[str, str]] = Counter()
    existing: Counter[tuple[str, bool]] = Counter()
    characters, definitions, seconds = 0, 0, [0.0, 0.0]
    for document in statutes(data):
        characters += len(document.text)
        clock = time.process_time()
        references = extract_references(document, names)
        seconds[0] += time.process_time() - clock
        clock = time.process_time()
        definitions += len(extract_definitions(document))
        seconds[1] += time.process_time() - clock
        for reference in references:
            kinds[reference.kind, "in corpus" if reference.law_id else "outside"] += 1
            if not reference.law_id or reference.kind not in (REFERS, APPLIES, DELEGATED_BY):
                continue
            division = reference.target.division
            if division.startswith("appendix") or label_of(division):
                whole = Locator(division) in places[reference.law_id]
                existing[_APPENDICES, whole or division in labels[reference.law_id]] += 1
            else:
                existing[_from(reference), _exists(reference, places)] += 1

    print(f"{characters:,} characters: references {seconds[0]:.1f} s CPU,", end=" ")
    print(f"{definitions:,} definitions {seconds[1]:.1f} s CPU")
    for (kind, where), count in sorted(kinds.items()):
        print(f"  {kind:24} {where:10} {count:9,}")
    for cited in (*_SOURCES, _APPENDICES):
        found, missing = existing[cited, True], existing[cited, False]
        print(f"  {cited}, target law in the corpus: n = {found + missing:,},", end=" ")
        print(f"target exists {rate(found, found + missing)}")


def statutes(data: Path) -> Iterator[Document]:
    """All statutes below a folder, one at a time; what cannot be read is named."""
    for path in sorted(data.rglob("*")) if data.is_dir() else [data]:
        if path.is_file() and supported(path):
            for outcome in read(path):
                if isinstance(outcome, ReadFailure):
                    print(f"not read: {outcome}")
                elif outcome.kind == "law":
                    yield outcome


def _from(reference: Reference) -> str:
    return _SOURCES[bool(reference.source.division)]


def _exists(reference: Reference, places: dict[str, frozenset[Locator]]) -> bool:
    ends = [reference.target, *([reference.target_end] if reference.target_end else [])]
    return all(end in places[reference.law_id] for end in ends)


if __name__ == "__main__":
    main()
