"""Answers files of questions offline; a killed batch resumes.

``run`` does the work of ``localrag batch``, ``estimate`` of its ``--dry-run``. ``known`` lists the
batches of a workspace, ``forget`` removes one from the list.
"""

from localrag.ops.batch.registry import KnownBatch, forget, known
from localrag.ops.batch.running import BatchEstimate, BatchReport, estimate, run
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
