"""``python -m localrag``: the command line."""

import sys

from localrag.doors.cli.start import run

if __name__ == "__main__":
    sys.exit(run())
