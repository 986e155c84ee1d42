"""The page in a browser: by the keyboard alone, at any width, by day and by night.

Needs Playwright, a Chromium, and axe-core (``pip install playwright axe-playwright-python``); none
of them is installed for the other tests. ``PAGE_SCREENSHOTS`` names a folder for screenshots.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
PATIENCE_MS = 60_000


@pytest.fixture(scope="module")
def address(sample_home: Path):
    command = [sys.executable, "-m", "localrag", "--home", str(sample_home), "--lang", "en"]
    command += ["serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield server.stdout.readline().split()[-1]
        finally:
            server.terminate()


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"], timeout=PATIENCE_MS
        )
        yield opened
        opened.close()


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
    page.goto(address)
    assert page.get_attribute("html", "lang") == language
    # Who opens the page can write at once.
    assert page.evaluate("document.activeElement.id") == "question"
    reader.look("1-home")
    page.keyboard.insert_text(QUESTION)
    reader.walk_to(".ask button")
    reader.press("Enter")
    assert page.inner_text("#answered") == QUESTION
    reader.look("2-answer")
    answer = page.url
    reader.walk_to(".citations a")
    reader.press("Enter")
    assert page.evaluate("document.activeElement.id") == "beside"
    reader.look("3-citation")
    seen = [page.url]
    for step in range(3):
        reader.walk_to("#beside li a")
        reader.press("Enter")
        assert page.inner_text("#answered") == QUESTION
        reader.look(f"{4 + step}-reference")
        seen.append(page.url)
    # The browser's way back; a browser without a window has no key for it.
    for url in (*reversed(seen[:-1]), answer):
        page.go_back()
        assert page.url == url
    # And the page's own.
    page.goto(seen[-1])
    reader.walk_to("#beside > p > a")
    reader.press("Enter")
    assert page.url == answer.partition("#")[0] + "?#answer"
    context.close()


@pytest.mark.parametrize("at", ["渡し舟法", "渡し舟法7〜8条", "渡し舟法99条"])
def test_whatever_is_looked_up_fits_a_narrow_window(address, browser, at):
    context = browser.new_context(
        locale="ja", viewport={"width": 320, "height": 640}, bypass_csp=True
    )
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(f"{address}provision?at={at}#beside")
    Reader(page, "narrow").look(f"look-{at}")
    context.close()
