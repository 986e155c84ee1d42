"""The page in a browser: by the keyboard alone, at any width, by day and by night.

Needs Playwright, a Chromium, and axe-core (``pip install playwright axe-playwright-python``), and
for keys of the browser itself a screen that nobody sees (``Xvfb`` and ``xdotool``); none of them is
installed for the other tests. ``PAGE_SCREENSHOTS`` names a folder for screenshots.
"""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from ....patience import PATIENCE
from .conftest import QUESTION

sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-core")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium"),
    pytest.mark.usefixtures("loopback"),
]

# One of them for each width, colour and language that somebody has.
READERS = {
    "ja-light-wide": ("ja", "light", 1280),
    "en-dark-wide": ("en", "dark", 1280),
    "ja-dark-narrow": ("ja", "dark", 360),
    "en-light-narrow": ("en", "light", 320),
}
PATIENCE_MS = PATIENCE * 1_000


@pytest.fixture(scope="module")
def address(sample_home: Path):
    """The address that signs a browser in."""
    command = [sys.executable, "-m", "localrag", "--home", str(sample_home), "--lang", "en"]
    command += ["serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield server.stdout.readline().split()[-1]
        finally:
            server.terminate()


@pytest.fixture(scope="module")
def launch():
    """Opens Chromium, with a window where it is given a screen."""
    with sync_api.sync_playwright() as playwright:

        @contextmanager
        def launched(screen=None):
            opened = playwright.chromium.launch(
                executable_path=CHROMIUM,
                args=["--no-sandbox"],
                timeout=PATIENCE_MS,
                headless=screen is None,
                env=screen,
            )
            yield opened
            opened.close()

        yield launched


@pytest.fixture(scope="module")
def browser(launch):
    with launch() as opened:
        yield opened


@pytest.fixture
def screen():
    """The environment of a program that shows itself on a screen that nobody sees."""
    for program in ("Xvfb", "xdotool"):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}")
    told, tells = os.pipe()
    command = ["Xvfb", "-displayfd", str(tells), "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=[tells], stderr=subprocess.DEVNULL) as server:
        os.close(tells)
        try:
            with os.fdopen(told) as number:
                yield {**os.environ, "DISPLAY": f":{number.readline().strip()}"}
        finally:
            server.terminate()


class Reader:
    """Someone before the page, with a keyboard."""

    def __init__(self, page, name):
        self.page = page
        self._name = name

    def walk_to(self, selector):
        """Press Tab until something has the focus, which has to be visible there."""
        for _ in range(200):
            self.page.keyboard.press("Tab")
            if self.page.evaluate("selector => document.activeElement.matches(selector)", selector):
                break
        else:
            raise AssertionError(f"Tab never comes to {selector}")
        style = "getComputedStyle(document.activeElement).outlineStyle"
        assert self.page.evaluate(style) != "none"

    def wait_at(self, place):
        """The browser gives the focus with its first picture, later than the page is loaded."""
        self.page.wait_for_function("id => document.activeElement.id === id", arg=place)

    def press(self, key):
        with self.page.expect_navigation():
            self.page.keyboard.press(key)
        self.page.wait_for_load_state()

    def look(self, step):
        """Everything fits its width; axe finds nothing serious; a picture is kept where asked."""
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert self.page.evaluate(wide) <= 0, f"{step}: wider than the window"
        found = axe.Axe().run(self.page).response["violations"]
        serious = [
            (one["id"], [node["target"] for node in one["nodes"]])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        assert not serious, step
        if folder := os.environ.get("PAGE_SCREENSHOTS"):
            self.page.screenshot(path=Path(folder) / f"{self._name}-{step}.png")


def ways(reader, address):
    """Ask, open a citation, follow three references, by the keyboard alone; tell each step."""
    page = reader.page
    page.goto(address)
    assert "token" not in page.url
    # Who opens the page can write at once.
    reader.wait_at("question")
    yield "1-home"
    page.keyboard.insert_text(QUESTION)
    reader.walk_to(".ask button")
    reader.press("Enter")
    assert page.inner_text("#answered") == QUESTION
    yield "2-answer"
    reader.walk_to(".citations a")
    reader.press("Enter")
    reader.wait_at("beside")
    yield "3-citation"
    for step in range(3):
        reader.walk_to("#beside li a")
        reader.press("Enter")
        assert page.inner_text("#answered") == QUESTION
        yield f"{4 + step}-reference"


@pytest.mark.parametrize("name", READERS)
def test_asked_read_and_followed_by_the_keyboard_alone(address, browser, name):
    language, colours, width = READERS[name]
    context = browser.new_context(
        locale=language,
        color_scheme=colours,
        viewport={"width": width, "height": 800},
        reduced_motion="reduce",
        # axe-core is a script, and no script runs on this page.
        bypass_csp=True,
    )
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    reader = Reader(page, name)
    seen = []
    for step in ways(reader, address):
        reader.look(step)
        seen.append(page.url)
    assert page.get_attribute("html", "lang") == language
    # The page's own way back; for that of the browser see below.
    reader.walk_to("#beside > p > a")
    reader.press("Enter")
    assert page.url == seen[1].partition("#")[0] + "?#answer"
    context.close()


def test_alt_and_an_arrow_lead_back_step_by_step(address, launch, screen):
    """Keys of the browser itself, which has them only where it has a window."""
    with launch(screen) as windowed:
        page = windowed.new_page(bypass_csp=True)
        page.set_default_timeout(PATIENCE_MS)
        reader = Reader(page, "windowed")
        seen = [page.url for _step in ways(reader, address)]
        assert all(one != other for one, other in pairwise(seen))
        for url in reversed(seen[:-1]):
            subprocess.run(["xdotool", "key", "alt+Left"], env=screen, check=True)
            page.wait_for_url(url)
        subprocess.run(["xdotool", "key", "alt+Right"], env=screen, check=True)
        page.wait_for_url(seen[1])
        assert page.inner_text("#answered") == QUESTION
        # And from there the keyboard goes on.
        reader.walk_to(".citations a")
        reader.press("Enter")
        assert page.url == seen[2]


@pytest.mark.parametrize("at", ["渡し舟法", "渡し舟法7〜8条", "渡し舟法99条"])
def test_whatever_is_looked_up_fits_a_narrow_window(address, browser, at):
    context = browser.new_context(
        locale="ja", viewport={"width": 320, "height": 640}, bypass_csp=True
    )
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(address)
    page.goto(f"{page.url}provision?at={at}#beside")
    Reader(page, "narrow").look(f"look-{at}")
    context.close()
