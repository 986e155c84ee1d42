"""Checks the citations, quotations and statements of a text against the laws of a corpus.

Each one becomes a finding: it holds, does not hold, or could not be checked. No model is used,
unless sentences without a citation are checked as claims.
"""

from localrag.check.checking import check
from localrag.check.source import CheckedSource, given, named_file, named_files, opened
from localrag.check.types import CheckedPlace, CheckReport, DiffPart, Finding, Part, Verdict

__all__ = [
    "CheckReport",
    "CheckedPlace",
    "CheckedSource",
    "DiffPart",
    "Finding",
    "Part",
    "Verdict",
    "check",
    "given",
    "named_file",
    "named_files",
    "opened",
]
