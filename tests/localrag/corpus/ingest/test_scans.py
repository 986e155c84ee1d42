"""Scanned pages on their way into a corpus: read one by one, resumed, and marked as such."""

import json
import stat
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("pypdfium2")
Image = pytest.importorskip("PIL.Image")

from pypdf import PdfWriter  # noqa: E402
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject  # noqa: E402

from localrag.corpus.ingest.add import add  # noqa: E402
from localrag.corpus.ingest.events import PagesScanned  # noqa: E402
from localrag.corpus.readers import Limits, Scans  # noqa: E402
from localrag.corpus.readers.ocr import ScannedLine  # noqa: E402
from localrag.corpus.store import CorpusStore  # noqa: E402
from localrag.text.progress import Progress  # noqa: E402

SENTENCES = (
    "桟橋を使う者は、日の出から日の入りまでに届け出る。",
    "渡し舟の船頭は、霧の日には鐘を鳴らす。",
    "灯台守は、毎夜油をたす。",
)
SURE = (0.98, 0.97, 0.62)


class Scripted:
    """Knows a page by how dark it is: 10 for the first one, 20 for the second."""

    def __init__(self, name="scripted 1", stops_at=None, sure=SURE):
        self.name = name
        self.read_pages = []
        self._stops_at = stops_at
        self._sure = sure

    def read(self, image):
        number = round(int(image.min()) / 10)
        if number == self._stops_at:
            raise KeyboardInterrupt
        self.read_pages.append(number)
        if not 1 <= number <= len(SENTENCES):
            return []
        text, width = SENTENCES[number - 1], image.shape[1]
        half = len(text) // 2
        return [
            ScannedLine(text[:half], (100.0, 100.0, width - 100.0, 130.0), self._sure[number - 1]),
            ScannedLine(text[half:], (100.0, 150.0, width - 150.0, 180.0), self._sure[number - 1]),
        ]


def picture(number):
    image = np.full((1000, 700, 3), 255, np.uint8)
    image[100:180, 100:600] = number * 10
    return Image.fromarray(image)


def tiff(path, numbers):
    first, *others = map(picture, numbers)
    first.save(path, save_all=True, append_images=others)
    return path


def pdf(path, numbers):
    first, *others = map(picture, numbers)
    first.save(path, save_all=True, append_images=others, quality=100, subsampling=0)
    return path


def with_printed_page(path):
    """A page of text before the pages of a file."""
    writer = PdfWriter()
    page = writer.add_blank_page(300, 300)
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    stream = DecodedStreamObject()
    stream.set_data(b"BT /F1 12 Tf 20 200 Td (The lamp is lit.) Tj ET")
    page[NameObject("/Contents")] = writer._add_object(stream)
    page[NameObject("/Resources")] = DictionaryObject(
        {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
    )
    writer.append(BytesIO(path.read_bytes()))
    writer.write(path)
    return path


def run(workspace, path, engine, **options):
    limits = Limits(scans=Scans(engine) if engine else None)
    return add(workspace, "main", [path], limits=limits, **options)


def passages(workspace):
    with CorpusStore.open(workspace.corpus("main").store, read_only=True) as store:
        assert store.check() == []
        return [
            (p.locator.page, p.text, p.locator.confidence)
            for document in store.documents()
            for p in store.read(document.id).passages
        ]


def kept(workspace):
    return sorted((workspace.corpus("main").store.parent / "scans").rglob("*.json"))


@pytest.mark.parametrize("write", [tiff, pdf])
def test_a_scan_becomes_text_with_its_pages_and_confidence(workspace, tmp_path, write):
    path = write(tmp_path / f"scan.{'tif' if write is tiff else 'pdf'}", [1, 2, 3])
    report = run(workspace, path, Scripted())
    assert passages(workspace) == [
        (number, text, sure)
        for number, (text, sure) in enumerate(zip(SENTENCES, SURE, strict=True), 1)
    ]
    (scanned,) = report.scanned
    assert (scanned.pages, scanned.earlier, scanned.empty) == (3, 0, ())
    assert scanned.doubtful == ((3, 0.62),)
    assert "page 3 (0.62)" in " ".join(scanned.words)
    assert kept(workspace) == []


def test_reading_goes_on_with_the_page_it_was_stopped_at(workspace, tmp_path):
    path = pdf(tmp_path / "scan.pdf", [1, 2, 3])
    with pytest.raises(KeyboardInterrupt):
        run(workspace, path, Scripted(stops_at=3))
    pages = kept(workspace)
    assert len(pages) == 2
    assert {stat.S_IMODE(page.stat().st_mode) for page in pages} == {0o600}
    assert stat.S_IMODE(pages[0].parent.stat().st_mode) == 0o700
    second = Scripted()
    events = []
    report = run(workspace, path, second, on_event=events.append)
    assert second.read_pages == [3]
    assert report.scanned[0].earlier == 2
    shown = [event for event in events if isinstance(event, Progress) and event.phase.about]
    assert [(one.done, one.total, one.earlier) for one in shown] == [
        (1, 3, 1),
        (2, 3, 2),
        (3, 3, 2),
    ]
    assert [text for _, text, _ in passages(workspace)] == list(SENTENCES)
    assert kept(workspace) == []


@pytest.mark.parametrize("spoil", [lambda text: text[:20], lambda text: text.replace("lines", "x")])
def test_a_damaged_page_is_read_again(workspace, tmp_path, spoil):
    path = tiff(tmp_path / "scan.tif", [1, 2, 3])
    with pytest.raises(KeyboardInterrupt):
        run(workspace, path, Scripted(stops_at=3))
    first, _ = kept(workspace)
    first.write_text(spoil(first.read_text(encoding="utf-8")), encoding="utf-8")
    second = Scripted()
    run(workspace, path, second)
    assert len(second.read_pages) == 2
    assert [text for _, text, _ in passages(workspace)] == list(SENTENCES)


def test_another_engine_reads_every_page_again(workspace, tmp_path):
    path = tiff(tmp_path / "scan.tif", [1, 2, 3])
    with pytest.raises(KeyboardInterrupt):
        run(workspace, path, Scripted(stops_at=3))
    second = Scripted("scripted 2")
    run(workspace, path, second)
    assert second.read_pages == [1, 2, 3]


def test_pages_of_another_file_stay_kept(workspace, tmp_path):
    stopped = tiff(tmp_path / "stopped.tif", [1, 2, 3])
    with pytest.raises(KeyboardInterrupt):
        run(workspace, stopped, Scripted(stops_at=3))
    run(workspace, tiff(tmp_path / "other.tif", [2]), Scripted())
    assert len(kept(workspace)) == 2


def test_only_pages_without_text_are_read_by_ocr(workspace, tmp_path):
    path = with_printed_page(pdf(tmp_path / "mixed.pdf", [1]))
    engine = Scripted()
    run(workspace, path, engine)
    assert engine.read_pages == [1]
    assert passages(workspace) == [(1, "The lamp is lit.", None), (2, SENTENCES[0], 0.98)]


def test_pages_left_out_are_read_once_ocr_is_there(workspace, tmp_path):
    path = with_printed_page(pdf(tmp_path / "mixed.pdf", [1]))
    report = run(workspace, path, None)
    assert report.left_out == {"pages without text": 1}
    assert passages(workspace) == [(1, "The lamp is lit.", None)]
    engine = Scripted()
    assert run(workspace, path, engine).replaced == 1
    assert len(passages(workspace)) == 2
    assert run(workspace, path, engine).files_unchanged == 1
    assert engine.read_pages == [1]


@pytest.mark.parametrize("write", [tiff, pdf])
def test_without_ocr_the_command_that_adds_it_is_named(workspace, tmp_path, write):
    path = write(tmp_path / f"scan.{'tif' if write is tiff else 'pdf'}", [1])
    (failed,) = run(workspace, path, None).failed
    assert "localrag[ocr]" in failed.cure


def test_a_page_without_text_is_named(workspace, tmp_path):
    path = tiff(tmp_path / "scan.tif", [1, 9])
    (scanned,) = run(workspace, path, Scripted()).scanned
    assert scanned.empty == (2,)
    assert any("no text" in words for words in scanned.words)
    (failed,) = run(workspace, tiff(tmp_path / "empty.tif", [9]), Scripted()).failed
    assert "no text" in failed.cause


def test_one_process_reads_all_scans(workspace, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for number in (1, 2, 3):
        pdf(folder / f"{number}.pdf", [number])
        # Enough text that processes are worth it.
        (folder / f"{number}.txt").write_text(f"{number}。\n" * 300_000, encoding="utf-8")
    engine = Scripted()
    report = run(workspace, folder, engine, workers=2)
    assert sorted(engine.read_pages) == [1, 2, 3]
    assert report.failures == 0
    assert len(report.scanned) == 3


def test_images_that_cannot_be_read(workspace, tmp_path):
    path = tiff(tmp_path / "scan.tif", [1])
    path.write_bytes(path.read_bytes()[:200])
    (failed,) = run(workspace, path, Scripted()).failed
    assert "damaged" in failed.cause
    large = tmp_path / "large.png"
    picture(1).resize((900, 900)).save(large)
    limits = replace(Limits(scans=Scans(Scripted())), memory_bytes=1_000_000)
    (failed,) = add(workspace, "main", [large], limits=limits).failed
    assert "too many pixels" in failed.cause


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGBA", "CMYK", "I;16"])
def test_images_of_every_mode(workspace, tmp_path, mode):
    grey = picture(1).convert("L")
    if mode == "I;16":
        image = Image.fromarray(np.asarray(grey).astype(np.uint16) * 257)
    else:
        image = grey.quantize(4) if mode == "P" else grey.convert("RGB").convert(mode)
    path = tmp_path / "scan.tif"
    image.save(path)
    run(workspace, path, Scripted(sure=(0.9, 0.9, 0.9)))
    # A page in black and white has no shade by which the engine would know it.
    assert len(passages(workspace)) == (mode not in ("1",))


def test_the_report_is_json(workspace, tmp_path):
    from localrag.doors.cli.render_ingest import report_as_json

    report = run(workspace, tiff(tmp_path / "scan.tif", [3]), Scripted())
    told = json.loads(json.dumps(report_as_json("main", report)))
    assert told["scanned"][0]["doubtful"] == [[1, 0.62]]
    assert isinstance(report.scanned[0], PagesScanned)
    assert Path(told["scanned"][0]["source"]).name == "scan.tif"
