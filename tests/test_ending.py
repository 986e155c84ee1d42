"""A run of tests that wait for ever ends by itself, with a report that names them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from .patience import PATIENCE

REPOSITORY = Path(__file__).parent.parent
WAITING = """
import asyncio
import ctypes
import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def anyio_backend():
    return "asyncio"


@pytest.fixture
async def resource():
    yield
    await asyncio.sleep(0)


async def test_a_coroutine_waits(resource):
    await asyncio.Event().wait()


@pytest.fixture
async def stubborn():
    yield
    while True:
        try:
            await asyncio.Event().wait()
        except BaseException:
            pass


async def test_a_teardown_waits_and_hears_nothing(stubborn):
    pass


def test_a_library_lets_nobody_speak():
    ctypes.PyDLL(None).sleep(3600)  # It keeps the interpreter's lock.


def test_a_process_stays():
    waiting = "import time; time.sleep(3600) # left behind"
    stays = subprocess.Popen([sys.executable, "-c", waiting], start_new_session=True)
    stays.returncode = 0  # So that Python does not warn of it.


async def test_all_is_well(resource):
    pass
"""
SHARING = """
from multiprocessing.shared_memory import SharedMemory


def test_python_keeps_a_process_for_what_is_shared():
    shared = SharedMemory(create=True, size=1)
    shared.close()
    shared.unlink()
"""


def run_tests(folder, tests, *options):
    """Run tests in a folder, ended as those of localrag are."""
    (folder / "test_made.py").write_text(tests)
    shutil.copy(REPOSITORY / "tests" / "ending.py", folder / "conftest.py")
    return subprocess.run(
        [
            *(sys.executable, "-m", "pytest", f"--config-file={REPOSITORY / 'pyproject.toml'}"),
            *(f"--rootdir={folder}", "-p", "no:cacheprovider", "-p", "pytest_socket"),
            *("-p", "anyio.pytest_plugin"),
            *options,
            str(folder),
        ],
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
            # Each of the processes would import more of them than it needs.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_what_waits_for_ever_is_ended_and_named(tmp_path):
    run = run_tests(
        tmp_path,
        WAITING,
        "-p",
        "xdist.plugin",
        "--numprocesses=2",
        "--override-ini=faulthandler_timeout=5",
    )
    told = run.stdout + run.stderr
    assert run.returncode == 1, told
    assert "3 failed, 3 passed" in run.stdout, told
    named = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "LEFT"))]
    assert len(named) == 4, told
    for name in ("a_coroutine_waits", "a_teardown_waits", "a_library_lets_nobody"):
        assert sum(name in line for line in named) == 1, told
    assert "TimeoutError" in run.stdout
    assert "Timeout (0:00:05)!" in run.stderr
    assert sum("# left behind" in line for line in named) == 1, told


def test_a_process_that_ends_with_python_is_not_named(tmp_path):
    run = run_tests(tmp_path, SHARING)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "LEFT" not in run.stdout
