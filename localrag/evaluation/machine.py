"""The machine that an evaluation ran on, in words."""

import os
import platform
import re
from contextlib import suppress
from pathlib import Path


def machine() -> str:
    """Processor, cores, memory and system ("AMD EPYC 9654, 16 cores, 126 GB; Linux 6.8 x86_64")."""
    cores = os.cpu_count() or 1
    parts = [_processor(), f"{cores} core{'s' if cores > 1 else ''}"]
    with suppress(ValueError, OSError, AttributeError):  # Windows has no sysconf
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        parts.append(f"{total / 1e9:.0f} GB")
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    return f"{', '.join(parts)}; {system}; Python {platform.python_version()}"


def _processor() -> str:
    with suppress(OSError):
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        if model := re.search(r"^model name\s*:\s*(.+)$", told, re.MULTILINE):
            return model[1].strip()
    return platform.processor() or "processor unknown"
