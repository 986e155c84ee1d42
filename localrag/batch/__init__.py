"""Offline batches: a file of questions in, a file of answers out, resumable after any kill.

``run`` is the Python twin of ``localrag batch``, ``estimate`` that of its ``--dry-run``.
"""

from localrag.batch.estimating import Estimate, estimate
from localrag.batch.report import BatchReport
from localrag.batch.running import run

__all__ = ["BatchReport", "Estimate", "estimate", "run"]
