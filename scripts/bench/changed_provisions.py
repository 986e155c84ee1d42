"""Provisions that another one modifies for the time being (当分の間), or requires something for.

It counts them in the 327 laws of ``egov/xml``, and prints a sample to read: the provision, the one
that changes it, and the sentence of that one. ``--right N`` prints the share of right ones in the
sample. ``--kind requires`` does so with the licences and notifications that provisions require.
"""

import random

from bench.options import parser
from bench.rates import rate
from bench.references import statutes

from localrag.corpus.links import CHANGES, REQUIRES, Reference
from localrag.law.names import LawNames
from localrag.law.notation import cite
from localrag.law.references import extract_references

# Words in every law with edges of the kind.
_WORDS = {CHANGES: "当分の間", REQUIRES: "なければ"}


def main() -> None:
    """Find them, count them, and print a sample."""
    options = parser(__doc__)
    options.add_argument("--kind", choices=_WORDS, default=CHANGES, help="of the edges")
    options.add_argument("--sample", type=int, default=30, metavar="N", help="edges to print")
    options.add_argument("--seed", type=int, default=36, metavar="N", help="of the sample")
    options.add_argument("--right", type=int, metavar="N", help="how many of the sample are right")
    arguments = options.parse_args()
    data, words = arguments.data / "egov" / "xml", _WORDS[arguments.kind]

    documents, rows, sentences = [], [], 0
    for document in statutes(data):
        about = document.metadata
        number, kind_of_law = about.get("law_num", ""), about.get("law_type", "")
        short = about.get("abbreviations", "")
        rows.append((document.id, document.title, number, kind_of_law, short))
        if words in document.text:
            documents.append(document)
            sentences += document.text.count(words)
    names = LawNames.from_rows(rows)
    found: list[tuple[Reference, str]] = []
    for document in documents:
        found += [
            (reference, _line(document.text, reference.start))
            for reference in extract_references(document, names)
            if reference.kind == arguments.kind
        ]
    changed = {(of.law_id, of.target.path) for of, _ in found}
    sources = {(of.document_id, of.source.path) for of, _ in found}
    abroad = sum(of.law_id != of.document_id for of, _ in found)
    print(f"{len(rows)} laws, {len(documents)} with {sentences:,} times {words}")
    print(f"{len(found):,} edges: {len(changed):,} provisions reached by {len(sources):,}", end=" ")
    print(f"provisions, {abroad:,} of another law")
    sample = random.Random(arguments.seed).sample(found, min(arguments.sample, len(found)))
    for place, (of, line) in enumerate(sample, 1):
        told = cite(names.title(of.law_id), of.target, arabic=True)
        by = f"{names.title(of.document_id)} {of.source.path}"
        print(f"{place}. {told} <- {by}\n   {line}")
    if arguments.right is not None:
        print(f"right in the sample: {rate(arguments.right, len(sample))}")


def _line(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    return text[start : end if end >= 0 else len(text)][:600]


if __name__ == "__main__":
    main()
