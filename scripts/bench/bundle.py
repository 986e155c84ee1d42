"""A bundle on a fresh system: seconds from the copy to the first cited answer, without a network.

The bundle is copied, then its install.py is run by somebody who is not root, in a network with
nothing in it: in ``--root``, a system of its own such as Debian's

    debootstrap --variant=minbase --include=python3 bookworm ROOT

makes (no compiler, no pip; needs root), else in this one. Make the bundle first:

    localrag bundle make BUNDLE --extra docs --extra llama-cpp --extra dense --model NAME
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

NOBODY = "65534:65534"
ANSWERED = "answered from"


def main() -> int:
    """Copy the bundle, install it, and print how long it took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bundle", type=Path, help="a bundle that is a folder")
    parser.add_argument("--root", type=Path, metavar="FOLDER", help="a fresh system")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="installations (1)")
    arguments = parser.parse_args()
    files = [path for path in arguments.bundle.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    place = f"in {arguments.root}" if arguments.root else "in this system"
    isolated = _isolated(arguments.root)
    network = " ".join(isolated[:2]) or "as it is"
    print(f"{len(files)} files, {size / 1e6:.1f} MB; {place}, network: {network}")
    print(f"{'round':<8}{'copied':>8}{'answered':>10}{'done':>8}   seconds, from the copy on")
    for number in range(arguments.rounds):
        folder = Path(tempfile.mkdtemp(dir=arguments.root and arguments.root / "tmp"))
        try:
            _measure(number, arguments, folder, isolated)
        finally:
            shutil.rmtree(folder)
    return 0


def _measure(number: int, arguments: argparse.Namespace, folder: Path, isolated: list[str]) -> None:
    started = time.perf_counter()
    shutil.copytree(arguments.bundle, folder / "bundle")
    copied = time.perf_counter() - started
    inside = folder
    if arguments.root:
        inside = Path("/") / folder.relative_to(arguments.root)
        subprocess.run(["chown", "--recursive", NOBODY, folder], check=True)
    python = "python3" if arguments.root else sys.executable
    command = [*isolated, python, str(inside / "bundle" / "install.py"), str(inside / "target")]
    started, answered, told = time.perf_counter(), 0.0, []
    for line in _lines(command):
        told.append(line)
        if line.startswith(ANSWERED):
            answered = time.perf_counter() - started
    done = time.perf_counter() - started
    if not answered:
        sys.exit("not installed:\n" + "\n".join(told))
    print(f"{number + 1:<8}{copied:>8.1f}{answered:>10.1f}{done:>8.1f}")
    print("\n".join(f"        {line}" for line in told))


def _isolated(root: Path | None) -> list[str]:
    """What runs a command without a network, and without root; nothing where that cannot be."""
    if root:
        return ["unshare", "--net", "chroot", f"--userspec={NOBODY}", str(root)]
    command = ["unshare", "--user", "--net", "--"]
    works = shutil.which(command[0]) and not subprocess.run([*command, "true"]).returncode
    return command if works else []


def _lines(command: list[str]) -> Iterator[str]:
    """What a command says, line by line as it says it."""
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        yield from (line.rstrip() for line in process.stdout)


if __name__ == "__main__":
    sys.exit(main())
