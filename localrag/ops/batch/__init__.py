"""Offline batches: a file of questions in, a file of answers out, resumable after any kill.

``run`` is the Python twin of ``localrag batch``, ``estimate`` that of its ``--dry-run``; ``known``
lists the batches that were begun in a workspace, ``forget`` removes one from that list.
"""

from localrag.ops.batch.estimating import BatchEstimate, estimate
from localrag.ops.batch.registry import KnownBatch, forget, known
from localrag.ops.batch.running import BatchReport, run
from localrag.ops.batch.types import Opener

__all__ = [
    "BatchEstimate",
    "BatchReport",
    "KnownBatch",
    "Opener",
    "estimate",
    "forget",
    "known",
    "run",
]
