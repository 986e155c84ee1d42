"""Everything that `import localrag` gives; imported when a name of it is first asked for."""

from localrag.batch import BatchReport
from localrag.check import CheckReport, Finding, Verdict
from localrag.contents import Contents, Part
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
from localrag.facts import Fact, FactKind
from localrag.ingest.add import AddReport
from localrag.ingest.index import IndexReport
from localrag.ingest.update import LawChange, LawChangeKind, UpdateReport
from localrag.overview import Overview
from localrag.provision import LookedUp, Provision
from localrag.reading.types import (
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
from localrag.retrieval.reading import Retrieval
from localrag.retrieval.types import Filters, Hit, Query, Trace
from localrag.sample import FOLDER as SAMPLE
from localrag.session import Corpus, Session, open  # noqa: A004 - `localrag.open`

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
