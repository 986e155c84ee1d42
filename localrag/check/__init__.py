"""What a text says of laws, checked against those of a corpus.

Everything that a text cites, quotes, or says of provisions becomes a finding: it holds, it does not
hold, or nothing could be shown. No model takes part, unless sentences that cite no law are checked
as claims.
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
