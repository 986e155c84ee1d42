"""Old office formats: how to convert them, or conversion by LibreOffice.

LibreOffice runs only on request. It gets a copy of the file, its own profile without macros and
updates of links, a proxy to nowhere, and a time limit.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from localrag.corpus.readers.types import Limits
from localrag.errors import InputError
from localrag.language import N_, _

CONVERTED: Mapping[str, str] = {
    **dict.fromkeys((".doc", ".dot", ".rtf", ".odt", ".ott", ".fodt", ".wps"), ".docx"),
    **dict.fromkeys((".xls", ".xlt", ".xlsb", ".ods", ".fods"), ".xlsx"),
    **dict.fromkeys((".ppt", ".pps", ".odp", ".fodp"), ".pptx"),
}
"""Formats LibreOffice reads, with the format it writes."""
# LibreOffice reads no format of 一太郎.
_ICHITARO = frozenset((".jtd", ".jtt", ".jtdc", ".jttc", ".jaw", ".jtw", ".jbw", ".juw"))
_PICTURES = frozenset((".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".heic", ".webp"))
LIST_OF_LAWS = "all_law_list.csv"
"""The list of laws in each archive of e-Gov."""
_PROGRAMS = ("soffice", "libreoffice")
_SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">{items}</oor:items>
"""
_SETTING = (
    '<item oor:path="/org.openoffice.{path}"><prop oor:name="{name}" oor:op="fuse">'
    "<value>{value}</value></prop></item>"
)
_CLOSED = (
    ("Office.Common/Security/Scripting", "MacroSecurityLevel", "3"),
    ("Office.Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("Office.Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("Office.Writer/Content/Update", "Link", "2"),
    ("Office.Calc/Content/Update", "Link", "2"),
)
_NOWHERE = "http://127.0.0.1:9"


def not_read(path: Path, formats: Sequence[str]) -> InputError:
    """The error for a file without a reader, by its name; `formats` are the readable suffixes."""
    known = path.suffix.lower()
    if path.name == LIST_OF_LAWS:
        return InputError(
            N_("It is the list of an archive of e-Gov; the laws are read from their own files."), ""
        )
    if known in CONVERTED:
        return InputError(
            N_("The format {suffix} is not read as it is."),
            N_(
                "Save it as {new} in its own program; or install LibreOffice and add it with "
                "--convert."
            ),
            suffix=known,
            new=CONVERTED[known],
        )
    if known in _ICHITARO:
        return InputError(
            N_("Files of Ichitaro ({suffix}) are not read."),
            N_("Open it in Ichitaro and save it as Word (.docx) or PDF."),
            suffix=known,
        )
    if known in _PICTURES:
        return InputError(
            N_("Pictures ({suffix}) are not read."), N_("Save a scanned page as PDF."), suffix=known
        )
    return InputError(
        N_("There is no reader for {suffix}."),
        N_("Read are {formats}."),
        suffix=path.suffix or _("files without a suffix"),
        formats=", ".join(formats),
    )


def converter() -> Path:
    """The program of LibreOffice on the search path; without one, an InputError."""
    found = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if found is None:
        raise InputError(
            N_("LibreOffice is not installed: there is no program {program}."),
            N_("Install it, or save the files as .docx, .xlsx or .pptx."),
            program=_PROGRAMS[0],
        )
    return Path(found)


def convert(data: bytes, suffix: str, limits: Limits) -> bytes:
    """Convert a file with LibreOffice; `suffix` is one of `CONVERTED`."""
    assert limits.converter is not None
    with tempfile.TemporaryDirectory(dir=limits.aside) as folder:
        place = Path(folder)
        # LibreOffice gets neither the file name nor the user's profile.
        source = place / f"document{suffix}"
        source.write_bytes(data)
        profile, out = place / "profile", place / "out"
        (profile / "user").mkdir(parents=True)
        items = "".join(
            _SETTING.format(path=path, name=name, value=value) for path, name, value in _CLOSED
        )
        settings = _SETTINGS.format(items=items)
        (profile / "user" / "registrymodifications.xcu").write_text(settings, encoding="utf-8")
        command = [
            str(limits.converter),
            f"-env:UserInstallation={profile.as_uri()}",
            *("--headless", "--norestore", "--nolockcheck", "--nologo", "--nodefault"),
            *("--convert-to", CONVERTED[suffix].lstrip("."), "--outdir", str(out), str(source)),
        ]
        _run(command, place, limits)
        written = out / source.with_suffix(CONVERTED[suffix]).name
        if not written.is_file() or written.is_symlink():
            raise InputError(
                N_("LibreOffice wrote nothing: the file is damaged, or in another format."),
                N_("Open it in its own program and save it as {new}."),
                new=CONVERTED[suffix],
            )
        if written.stat().st_size > limits.file_bytes:
            raise InputError(
                N_("What LibreOffice wrote has {size:,} bytes, more than {most:,}."),
                N_("Split the file."),
                size=written.stat().st_size,
                most=limits.file_bytes,
            )
        return written.read_bytes()


def _run(command: Sequence[str], place: Path, limits: Limits) -> None:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "ftp_proxy", "all_proxy"), _NOWHERE)
    try:
        process = subprocess.Popen(  # noqa: S603 - the program that the user asked for
            command,
            cwd=place,
            env={**kept, **proxies, "HOME": str(place), "TMPDIR": str(place)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # LibreOffice starts other programs; all are stopped together.
            start_new_session=True,
        )
    except OSError as error:
        raise InputError(
            N_("LibreOffice cannot be started ({problem})."),
            N_("Check how it is installed."),
            problem=error,
        ) from error
    try:
        status = process.wait(limits.converting_seconds)
    except subprocess.TimeoutExpired as error:
        raise InputError(
            N_("LibreOffice took more than {n} seconds and was stopped."),
            N_("Open it in its own program and save it in the new format."),
            n=limits.converting_seconds,
        ) from error
    finally:
        _stop(process)
    if status:
        raise InputError(
            N_("LibreOffice failed with exit status {status}."),
            N_("Open it in its own program and save it in the new format."),
            status=status,
        )


def _stop(process: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
    finally:
        process.wait()
