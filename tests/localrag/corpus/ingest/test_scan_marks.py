"""What OCR has read says so wherever it is shown."""

import json

import pytest

np = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")

from localrag.corpus.readers.ocr import ScannedLine  # noqa: E402

SENTENCE = "桟橋を使う者は、民法第七百九条により届け出る。"
MARK = "read by OCR, confidence 0.93"


class Scripted:
    """Reads the same sentence on every page."""

    name = "scripted 1"

    def __init__(self, threads=0):
        del threads

    def read(self, image):
        return [ScannedLine(SENTENCE, (50.0, 50.0, image.shape[1] - 50.0, 90.0), 0.93)]


@pytest.fixture
def scan(home, cli, tmp_path, monkeypatch):
    """An indexed corpus with one scanned page, and its file."""
    monkeypatch.setattr("localrag.corpus.ingest.reading.PaddleOcr", Scripted)
    monkeypatch.setattr("localrag.corpus.ingest.reading.is_installed", lambda: True)
    path = tmp_path / "notice.png"
    Image.fromarray(np.full((400, 800, 3), 255, np.uint8)).save(path)
    for arguments in (["init"], ["add", str(path)], ["index"]):
        outcome = cli(*arguments)
        assert outcome.code == 0, outcome.err
    return path


def test_a_quotation_says_that_ocr_read_it(scan, cli):
    assert MARK in cli("ask", "桟橋を使う者").out
    answer = json.loads(cli("ask", "桟橋を使う者", "--json").out)
    assert answer["citations"][0]["confidence"] == 0.93


def test_a_hit_says_that_ocr_read_it(scan, cli):
    assert MARK in cli("search", "桟橋").out
    found = json.loads(cli("search", "桟橋", "--json").out)
    assert found["hits"][0]["passage"]["confidence"] == 0.93


def test_a_passage_that_is_shown_says_that_ocr_read_it(scan, cli):
    assert MARK in cli("show", "notice.png#1").out


def test_a_check_says_what_ocr_read(scan, cli):
    report = cli("check", str(scan), "--all")
    assert "1 page was read by OCR, confidence 0.93" in report.out
    assert MARK in report.out
    told = json.loads(cli("check", str(scan), "--json").out)
    assert told["read_by_ocr"] == [0.93]
    assert {finding["place"]["confidence"] for finding in told["findings"]} == {0.93}


def test_scanned_pages_are_left_out_on_request(scan, cli):
    outcome = cli("--set", "ingest.ocr=off", "add", str(scan), "--corpus", "other")
    assert outcome.code == 4
    assert "localrag[ocr]" in outcome.err
