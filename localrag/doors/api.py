"""Everything that `import localrag` gives; imported when a name of it is first asked for."""

from localrag.answer.types import (
    Answer,
    Cancelled,
    Citation,
    Claim,
    FactCheck,
    Nearest,
    Status,
    Unanswered,
    Veracity,
    Watch,
)
from localrag.check import CheckReport, Finding, Verdict
from localrag.corpus.ingest.add import AddReport
from localrag.corpus.ingest.update import LawChange, LawChangeKind, UpdateReport
from localrag.doors.session import Corpus, Session, open  # noqa: A004 - `localrag.open`
from localrag.errors import (
    BusyError,
    ConfigError,
    IndexUnusable,
    InputError,
    LocalragError,
    ModelUnusable,
    NotFoundError,
    StorageError,
    StoreError,
    UsageError,
    WorkspaceError,
)
from localrag.ops.batch import BatchReport
from localrag.ops.overview import Overview
from localrag.sample import FOLDER as SAMPLE
from localrag.search.contents import Contents, Part
from localrag.search.indexing.index import IndexReport
from localrag.search.provision import LookedUp, Provision
from localrag.search.reading import Retrieval
from localrag.search.types import Filters, Hit, Query, Trace
from localrag.text.facts import Fact, FactKind

__all__ = [
    "SAMPLE",
    "AddReport",
    "Answer",
    "BatchReport",
    "BusyError",
    "Cancelled",
    "CheckReport",
    "Citation",
    "Claim",
    "ConfigError",
    "Contents",
    "Corpus",
    "Fact",
    "FactCheck",
    "FactKind",
    "Filters",
    "Finding",
    "Hit",
    "IndexReport",
    "IndexUnusable",
    "InputError",
    "LawChange",
    "LawChangeKind",
    "LocalragError",
    "LookedUp",
    "ModelUnusable",
    "Nearest",
    "NotFoundError",
    "Overview",
    "Part",
    "Provision",
    "Query",
    "Retrieval",
    "Session",
    "Status",
    "StorageError",
    "StoreError",
    "Trace",
    "Unanswered",
    "UpdateReport",
    "UsageError",
    "Veracity",
    "Verdict",
    "Watch",
    "WorkspaceError",
    "open",
]
