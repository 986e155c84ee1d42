"""Hops, files and modules of one `localrag ask` without a model.

The sample is added and indexed in its own workspace; then one question is asked in a fresh process.
A hop is a call between functions of ours, from the command line to the quotations. A file counts
when one of its functions is called.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from bench.options import REPOSITORY, parser

QUESTION = "渡し舟を運航してはならない水位の基準は何か。"
COUNTING = '''
import contextlib, io, sys
from types import FrameType

OURS = tuple(sys.argv[1].split(":"))
files, functions, chain = set(), set(), []


def ours(frame):
    """Whether a frame is of a function of ours, and no body of a module or a class."""
    code = frame.f_code
    return code.co_filename.startswith(OURS) and code.co_flags & 0x2


def count(frame, event, _):
    if event != "call" or not ours(frame):
        return
    files.add(frame.f_code.co_filename)
    functions.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))
    if frame.f_code.co_name == "quotations" and not chain:
        above = frame
        while above is not None:
            if ours(above):
                chain.append(above.f_code.co_name)
            above = above.f_back


from localrag.doors.cli.start import run

sys.setprofile(count)
with contextlib.redirect_stdout(io.StringIO()):
    code = run(sys.argv[2:])
sys.setprofile(None)
mine = [name for name in sys.modules if name.split(".")[0].startswith("localrag")]
print(code, len(chain) - 1, len(files), len(functions), len(mine))
print(" > ".join(reversed(chain)))
'''


def main() -> None:
    """Print the counts, and the way from the command line to the quotations."""
    options = parser(__doc__)
    options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = ["--home", str(Path(folder) / "home")]
        for words in (["init"], ["add", "--sample"], ["index"]):
            command = [sys.executable, "-m", "localrag", *home, *words]
            subprocess.run(command, check=True, capture_output=True)
        ours = ":".join(str(REPOSITORY / name) for name in ("localrag", "models", "indexes", "tui"))
        command = [sys.executable, "-c", COUNTING, ours, *home, "ask", "--no-model", QUESTION]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    counts, way = done.stdout.splitlines()
    code, hops, files, functions, modules = map(int, counts.split())
    print(f"exit code {code}; hops {hops}, files {files}, functions {functions}, modules {modules}")
    print(way)


if __name__ == "__main__":
    main()
