"""A bundle on a fresh system: seconds from the copy to the first cited answer, without a network.

The bundle is copied, and a user without root runs its install.py in an empty network. The system is
``--root``, made without compiler and pip (needs root) by

    debootstrap --variant=minbase --include=python3 bookworm ROOT

or else this one. ``--kills`` kills it at random moments: programs that start then must be whole,
and the next run must continue. Make the bundle first:

    localrag bundle make BUNDLE --extra docs --extra llama-cpp --extra dense --model NAME
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.options import parser
from bench.own_process import processor_seconds

NOBODY = "65534:65534"
ANSWERED = "answered from"


def main() -> int:
    """Copy the bundle, install it, and print how long it took."""
    options = parser(__doc__, data=False)
    options.add_argument("bundle", type=Path, help="a bundle that is a folder")
    options.add_argument("--root", type=Path, metavar="FOLDER", help="a fresh system")
    options.add_argument("--rounds", type=int, default=1, metavar="N", help="installations (1)")
    options.add_argument("--kills", type=int, default=0, metavar="N", help="killed ones (0)")
    arguments = options.parse_args()
    files = [path for path in arguments.bundle.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    place = f"in {arguments.root}" if arguments.root else "in this system"
    isolated = _isolated(arguments.root)
    network = " ".join(isolated[:2]) or "as it is"
    print(f"{len(files)} files, {size / 1e6:.1f} MB; {place}, network: {network}")
    print(f"{'round':<8}{'answered':>10}{'done':>8}{'CPU':>8}   seconds after the copy")
    for number in range(arguments.rounds):
        with _installation(arguments, isolated) as installation:
            seconds = installation.measure(number + 1)
    if arguments.kills:
        _kill(arguments, isolated, seconds)
    return 0


@dataclass
class Installation:
    """A copy of the bundle, and the folder of its installation.

    Attributes:
        folder: holds both, by its name here.
    """

    folder: Path
    prefix: list[str]
    inside: Path
    python: str

    def start(self) -> "subprocess.Popen[str]":
        """Start the installer, in a group of its own."""
        script, target = self.inside / "bundle" / "install.py", self.inside / "target"
        return subprocess.Popen(
            [*self.prefix, self.python, str(script), str(target)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"},
            start_new_session=True,
        )

    def measure(self, number: int) -> float:
        """Install, and print how long it takes from the copy on; gives the seconds."""
        answered, told, started, used = 0.0, [], time.perf_counter(), processor_seconds()
        with self.start() as process:
            assert process.stdout is not None
            for line in process.stdout:
                told.append(f"        {line.rstrip()}")
                if line.startswith(ANSWERED):
                    answered = time.perf_counter() - started
        done = time.perf_counter() - started
        if not answered or process.returncode:
            sys.exit("not installed:\n" + "\n".join(told))
        used = processor_seconds() - used
        print(f"{number:<8}{answered:>10.1f}{done:>8.1f}{used:>8.1f}")
        print("\n".join(told))
        return done

    def starts(self) -> bool:
        """Whether there is something to start; it has to be whole.

        Raises:
            SystemExit: it is not.
        """
        command = self.inside / "target" / "bin" / "localrag"
        if not (self.folder / "target" / "bin" / "localrag").exists():
            return False
        done = subprocess.run(
            [*self.prefix, str(command), "--version"], capture_output=True, text=True
        )
        if done.returncode:
            sys.exit(f"what looks whole is not:\n{done.stderr}")
        return True


def _kill(arguments: argparse.Namespace, isolated: list[str], seconds: float) -> None:
    """Kill installations at random moments; each continues the one before."""
    chance, killed, finished = random.Random(20), 0, 0
    while killed < arguments.kills:
        with _installation(arguments, isolated) as installation:
            while killed < arguments.kills and not installation.starts():
                process = installation.start()
                try:
                    process.communicate(timeout=chance.uniform(0, seconds))
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.communicate()
                    killed += 1
            installation.measure(0)
            finished += installation.starts()
    print(f"killed {killed} times, then finished: {finished} installations, all whole")


@contextmanager
def _installation(arguments: argparse.Namespace, isolated: list[str]) -> Iterator[Installation]:
    root: Path | None = arguments.root
    folder = Path(tempfile.mkdtemp(dir=root and root / "tmp"))
    try:
        shutil.copytree(arguments.bundle, folder / "bundle")
        if root:
            subprocess.run(["chown", "--recursive", NOBODY, folder], check=True)
        inside = Path("/") / folder.relative_to(root) if root else folder
        yield Installation(folder, isolated, inside, "python3" if root else sys.executable)
    finally:
        shutil.rmtree(folder)


def _isolated(root: Path | None) -> list[str]:
    """Prefix of a command without network and root; empty if impossible."""
    if root:
        # Processes are seen in any system; the mount is gone with the namespace.
        enter = (
            f'mount --rbind /proc "{root}/proc" && exec chroot --userspec={NOBODY} "{root}" "$@"'
        )
        return ["unshare", "--net", "--mount", "--", "sh", "-c", enter, "sh"]
    command = ["unshare", "--user", "--net", "--"]
    works = shutil.which(command[0]) and not subprocess.run([*command, "true"]).returncode
    return command if works else []


if __name__ == "__main__":
    sys.exit(main())
