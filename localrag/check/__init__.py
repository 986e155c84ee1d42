"""Checks the citations, quotations and statements of a text against the laws of a corpus.

Each one becomes a finding: it holds, does not hold, or could not be checked. No model is used,
unless sentences without a citation are checked as claims.
"""

from localrag.check.checking import check
from localrag.check.source import Source, given, named_file, named_files, opened
from localrag.check.types import CheckReport, DiffPart, Finding, Part, Place, Verdict

__all__ = [
    "CheckReport",
    "DiffPart",
    "Finding",
    "Part",
    "Place",
    "Source",
    "Verdict",
    "check",
    "given",
    "named_file",
    "named_files",
    "opened",
]
