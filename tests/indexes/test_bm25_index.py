import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
import tantivy

from localrag_indexes import bm25 as bm25_index
from localrag_indexes.analysis import Analyzer
from localrag_indexes.bm25 import BM25Index, TextEntry, build, update
from localrag_indexes.errors import (
    IndexDamaged,
    IndexingError,
    IndexMissing,
    IndexVersionError,
)
from localrag_indexes.manifest import IndexManifest

from ..patience import PATIENCE, wait_for
from ..rows import each

ANALYZER = Analyzer()
ATTRIBUTES = ["law", "date"]
SPRING, AUTUMN = "2020-04-01", "2023-10-01"
ENTRIES = [
    TextEntry(
        7, "渡し舟条例 第三条", "船頭は川開きの日までに届け出る。", {"law": "A", "date": SPRING}
    ),
    TextEntry(3, "渡し舟条例 第三条の二", "船頭は灯火を備える。", {"law": "A", "date": SPRING}),
    TextEntry(
        5, "灯台規則 第一条", "灯火は日没に点じ、渡し舟にも要する。", {"law": "B", "date": AUTUMN}
    ),
    TextEntry(-2, "Harbour rules", "The ferryman registers his boat.", {"law": "C"}),
]


def make(folder: Path, entries: Iterable[TextEntry] = ENTRIES, **options: object) -> Path:
    folder.mkdir()
    build(folder, entries, analyzer=ANALYZER, attributes=ATTRIBUTES, **options)  # type: ignore[arg-type]
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("bm25") / "index")


@pytest.fixture
def index(folder: Path) -> Iterable[BM25Index]:
    with BM25Index.open(folder, analyzer=ANALYZER.id) as index:
        yield index


def keys(index: BM25Index, query: str, k: int = 10, **options: object) -> list[int]:
    hits = index.search(ANALYZER.terms(query), k, **options)  # type: ignore[arg-type]
    return [hit.key for hit in hits]


def test_the_entry_that_answers_comes_first(index: BM25Index) -> None:
    assert keys(index, "船頭は灯火を備えるか")[0] == 3
    assert keys(index, "日没の灯火")[0] == 5
    assert keys(index, "registered boats") == [-2]
    assert keys(index, "船頭", k=1) == keys(index, "船頭")[:1]


def test_a_place_is_found_in_any_spelling_by_its_header(index: BM25Index) -> None:
    assert keys(index, "第３条の２") == [3]
    assert keys(index, "渡し舟条例第3条")[0] == 7


def test_fields_weigh_as_asked(index: BM25Index) -> None:
    both = index.search(["第1条"], 5, header_weight=1.0, body_weight=1.0)
    header = index.search(["第1条"], 5, header_weight=1.0, body_weight=0.0)
    body = index.search(["第1条"], 5, header_weight=0.0, body_weight=1.0)
    assert both[0].score == pytest.approx(header[0].score + body[0].score)
    assert index.search(["日没"], 5, header_weight=1.0, body_weight=0.0) == []


def test_terms_weigh_as_asked(index: BM25Index) -> None:
    assert index.search({"日没": 1.0, "灯火": 0.0}, 5) == index.search({"日没": 1.0}, 5)
    single, double = (index.search({"日没": weight}, 5)[0].score for weight in (1.0, 2.0))
    assert double == pytest.approx(2 * single)


def test_neighbours_earn_more_than_strangers(tmp_path: Path) -> None:
    entries = [
        TextEntry(1, "", "届出 事項 変更 船頭", {}),
        TextEntry(2, "", "船頭 届出 変更 事項", {}),
    ]
    with BM25Index.open(make(tmp_path / "pairs", entries)) as index:
        first, second = index.search(["船頭", "届出"], 2)
        assert (first.key, second.key) == (2, 1)
        assert first.score > second.score
        assert len({hit.score for hit in index.search(["船頭", "届出"], 2, pair_weight=0)}) == 1


def test_repeated_terms_count_once(index: BM25Index) -> None:
    once = index.search(["灯火"], 5)
    assert index.search(["灯火", "灯火", "灯火"], 5) == once


def test_ties_come_in_the_order_of_their_keys(tmp_path: Path) -> None:
    entries = [TextEntry(key, "同じ", "船頭は届け出る", {}) for key in (9, 2, 5)]
    with BM25Index.open(make(tmp_path / "ties", entries)) as index:
        assert keys(index, "船頭") == [2, 5, 9]


def test_filters(index: BM25Index) -> None:
    assert keys(index, "渡し舟", where={"law": ["B"]}) == [5]
    assert set(keys(index, "渡し舟", where={"law": ["A", "B", "none"]})) == {7, 3, 5}
    assert keys(index, "渡し舟", where={"law": []}) == []
    assert set(keys(index, "渡し舟", between={"date": ("", "2020-12-31")})) == {7, 3}
    assert keys(index, "渡し舟", between={"date": ("2023-10-01", "2023-10-01")}) == [5]
    assert keys(index, "渡し舟", where={"law": ["A"]}, between={"date": ("2023", "")}) == []
    assert set(keys(index, "渡し舟", between={"date": ("", "")})) == {7, 3, 5}


def test_filters_leave_scores_as_they_are(index: BM25Index) -> None:
    filtered = index.search(["灯火"], 5, where={"law": ["B"]})
    assert filtered == [hit for hit in index.search(["灯火"], 5) if hit.key == 5]


def _schema_without_keys(attributes: Iterable[str]) -> object:
    """As indexes had it whose keys could not be looked up."""
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field(bm25_index.KEY, fast=True)
    for name in (bm25_index.HEADER, bm25_index.BODY, bm25_index.PAIRS):
        builder.add_text_field(name, tokenizer_name="terms", index_option="freq")
    for name in attributes:
        field = bm25_index.attribute_field(name)
        builder.add_text_field(field, tokenizer_name="raw", index_option="basic")
    return builder.build()


@pytest.mark.parametrize("earlier", [False, True])
def test_only_what_has_some_keys_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, earlier: bool
) -> None:
    if earlier:
        monkeypatch.setattr(bm25_index, "schema_of", _schema_without_keys)
    entries = [
        TextEntry(key, "", f"boat {'oar ' * (key % 7)}", {"law": "AB"[key % 2]})
        for key in range(-30, 30)
    ]
    with BM25Index.open(make(tmp_path / "index", entries)) as index:
        every = index.search(["boat", "oar"], 100)
        for few in ({-30, 7, 8}, set(range(-25, 25)), {99}, set[int]()):
            for law in (None, {"law": ["A"]}):
                wanted = [
                    hit for hit in every if hit.key in few and (law is None or hit.key % 2 == 0)
                ]
                among = frozenset(few)
                assert index.search(["boat", "oar"], 100, among=among, where=law) == wanted
                assert index.search(["boat", "oar"], 2, among=among, where=law) == wanted[:2]


def test_an_unknown_attribute_is_refused(index: BM25Index) -> None:
    with pytest.raises(ValueError, match="colour"):
        index.search(["灯火"], 5, where={"colour": ["red"]})


@each(
    "terms",
    [[], [""], ["body:灯火 OR *"], ["\x1f"], ["x" * 100_000], ["[bold]", "\\", '"', "(", "NOT"]],
)
def test_whatever_a_term_holds_is_only_looked_up(index: BM25Index, terms: list[str]) -> None:
    assert index.search(terms, 5) == []


@pytest.mark.parametrize("k", [0, -1])
def test_nothing_asked_nothing_found(index: BM25Index, k: int) -> None:
    assert index.search(["灯火"], k) == []


def test_more_asked_than_there_is(index: BM25Index) -> None:
    assert len(index.search(["灯火"], 10**12)) == 2


def test_frequencies_and_pruning(index: BM25Index) -> None:
    assert index.count == 4
    assert index.document_frequency("灯火") == 2
    assert index.document_frequency("鯨") == 0
    assert index.most_informative(["灯火", "日没", "鯨", "渡し"], 2) == ["灯火", "日没"]


def test_an_empty_index_answers(tmp_path: Path) -> None:
    with BM25Index.open(make(tmp_path / "empty", [])) as index:
        assert index.search(["灯火"], 5) == []
        assert index.count == 0


def test_the_manifest_says_what_was_built(folder: Path) -> None:
    manifest = IndexManifest.read(folder)
    assert (manifest.kind, manifest.count) == ("bm25", 4)
    assert (manifest.analyzer, manifest.attributes) == (ANALYZER.id, ("law", "date"))
    manifest.verify(folder, deep=True)


def test_extra_data_and_progress(tmp_path: Path) -> None:
    seen: list[int] = []
    folder = make(tmp_path / "index", extra={"corpus": "港"}, on_progress=seen.append)
    assert IndexManifest.read(folder).extra == {"corpus": "港"}
    assert seen[-1] == len(ENTRIES)


def test_workers_build_the_same_index(tmp_path: Path, folder: Path) -> None:
    entries = [
        TextEntry(key, f"条例 第{key}条", f"第{key}号の船頭は届け出る。" * 40, {})
        for key in range(400)
    ]
    alone = make(tmp_path / "alone", entries)
    together = make(tmp_path / "together", entries, workers=2)
    with BM25Index.open(alone) as one, BM25Index.open(together) as other:
        for query in ("第12条", "船頭の届出", "第7号"):
            terms = ANALYZER.terms(query)
            assert one.search(terms, 20) == other.search(terms, 20)


def test_a_source_that_fails_fails_the_build(tmp_path: Path) -> None:
    def entries() -> Iterable[TextEntry]:
        yield from ENTRIES
        raise RuntimeError("the store went away")

    with pytest.raises(RuntimeError, match="store went away"):
        make(tmp_path / "index", entries(), workers=2)
    with pytest.raises(IndexMissing):
        BM25Index.open(tmp_path / "index")


class _Fatal:
    id = "fatal"

    def terms(self, text: str) -> list[str]:
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_worker_is_named(tmp_path: Path) -> None:
    with pytest.raises(IndexingError, match="worker process was killed"):
        build(tmp_path, ENTRIES, analyzer=_Fatal(), attributes=[], workers=2)


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from localrag_indexes.analysis import Analyzer
from localrag_indexes.bm25 import TextEntry, build
from localrag_indexes.errors import IndexNotWritten
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
entries = (TextEntry(i, "", f"船頭{i} 届出{i * 7}", {}) for i in range(20_000))
try:
    build(Path(sys.argv[1]), entries, analyzer=Analyzer(), attributes=[])
except IndexNotWritten as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_full_disk_is_named(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path)]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert "is the disk full?" in finished.stdout
    with pytest.raises(IndexMissing):
        BM25Index.open(tmp_path)


ORPHANS = """
import itertools, sys
from pathlib import Path
from localrag_indexes.analysis import Analyzer
from localrag_indexes.bm25 import TextEntry, build
if __name__ == "__main__":
    entries = (TextEntry(i, "条例", "船頭は届け出る。" * 50, {}) for i in itertools.count())
    build(Path(sys.argv[1]), entries, analyzer=Analyzer(), attributes=[], workers=2,
          on_progress=lambda n: print(n, flush=True))
"""


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc to see the processes")
def test_workers_die_with_a_killed_parent(tmp_path: Path) -> None:
    script = tmp_path / "endless.py"
    script.write_text(ORPHANS, encoding="utf-8")
    (tmp_path / "index").mkdir()
    command = [sys.executable, str(script), str(tmp_path / "index")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        tasks = Path(f"/proc/{parent.pid}/task").glob("*/children")
        children = [int(pid) for task in tasks for pid in task.read_text().split()]
        parent.kill()
    assert len(children) >= 2
    wait_for(lambda: not any(map(_alive, children)))


def test_nothing_there_is_missing(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(IndexMissing, match="no index"):
            BM25Index.open(folder)


def _index_file(folder: Path, suffix: str) -> Path:
    return next(path for path in folder.iterdir() if path.suffix == suffix)


def test_a_file_cut_short_or_gone_is_named(tmp_path: Path) -> None:
    folder = make(tmp_path / "index")
    postings = _index_file(folder, ".idx")
    postings.write_bytes(postings.read_bytes()[:-1])
    with pytest.raises(IndexDamaged, match="bytes instead of") as caught:
        BM25Index.open(folder)
    assert caught.value.file == postings
    postings.unlink()
    with pytest.raises(IndexDamaged, match="missing"):
        BM25Index.open(folder)


def overwrite(path: Path, content: bytes, *, unseen: bool) -> None:
    """Write a file anew; `unseen`, as a failing disk would: it says of no writing."""
    before = path.stat()
    path.write_bytes(content)
    if unseen:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("how", ["written", "copied", "unseen"])
def test_a_changed_byte_is_found(tmp_path: Path, how: str) -> None:
    """By whoever opens it first after the file was written or copied, else by the deep check."""
    folder = make(tmp_path / "index")
    lengths = _index_file(folder, ".fieldnorm")
    content = lengths.read_bytes()
    overwrite(lengths, bytes([content[0] ^ 1]) + content[1:], unseen=how != "written")
    if how == "copied":
        shutil.copytree(folder, tmp_path / "copy")
        folder = tmp_path / "copy"
    for _ in "12":
        with pytest.raises(IndexDamaged, match=r"the content of .* has changed"):
            BM25Index.open(folder, deep=how == "unseen")


@pytest.mark.parametrize("suffix", [".idx", ".term", ".fast", ".fieldnorm", ".store", ".json"])
@pytest.mark.filterwarnings("ignore")
def test_garbage_of_the_right_size_is_an_error_not_a_crash(tmp_path: Path, suffix: str) -> None:
    folder = make(tmp_path / "index")
    victim = folder / "meta.json" if suffix == ".json" else _index_file(folder, suffix)
    overwrite(victim, b"\xff" * victim.stat().st_size, unseen=True)
    with (
        pytest.raises(IndexDamaged, match="cannot be read"),
        BM25Index.open(folder) as index,
    ):
        index.search(["灯火"], 5, where={"law": ["B"]})


def test_what_was_compared_is_noted(tmp_path: Path) -> None:
    """Also that of a copy, from its first opening on; a note that is damaged is written anew."""
    shutil.copytree(make(tmp_path / "index"), tmp_path / "copy")
    note = tmp_path / "copy" / "manifest.compared"
    before = note.read_bytes()
    for damage in (lambda: None, lambda: note.write_bytes(b"[1]"), note.unlink):
        damage()
        BM25Index.open(tmp_path / "copy").close()
        assert note.read_bytes() != before
        written = note.stat().st_mtime_ns
        BM25Index.open(tmp_path / "copy").close()
        assert note.stat().st_mtime_ns == written, "compared once"


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("format", 999, IndexVersionError),
        ("kind", "vectors", IndexVersionError),
        ("analyzer", "other/1", IndexVersionError),
        ("files", None, IndexDamaged),
    ],
)
def test_a_manifest_of_something_else_is_refused(
    tmp_path: Path, key: str, value: object, error: type[IndexingError]
) -> None:
    folder = make(tmp_path / "index")
    path = folder / "manifest.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**data, key: value}), encoding="utf-8")
    with pytest.raises(error):
        BM25Index.open(folder, analyzer=ANALYZER.id)


@each("content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"{}", b'{"format":1}'])
def test_a_manifest_that_is_none_is_damage(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(IndexDamaged, match="is not a manifest"):
        BM25Index.open(tmp_path)


def test_a_folder_that_cannot_be_written_is_searched(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    lock = folder / ".tantivy-meta.lock"
    lock.unlink(missing_ok=True)
    # Nobody can open it for writing, whoever runs the tests.
    lock.mkdir()
    before = sorted(folder.iterdir())
    with BM25Index.open(folder) as index:
        assert keys(index, "日没") == [5]
    assert sorted(folder.iterdir()) == before


def test_an_update_removes_and_adds_and_leaves_the_earlier_index_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = make(tmp_path / "earlier")
    before = {path.name: path.read_bytes() for path in earlier.glob("[!.]*")}
    later = tmp_path / "later"
    later.mkdir()
    more = TextEntry(9, "渡し舟条例 第四条", "船頭は浮標を見る。", {"law": "A", "date": SPRING})
    manifest = update(later, earlier, [(3, 5)], [more], analyzer=ANALYZER)
    assert manifest.count == 3
    with BM25Index.open(later, analyzer=ANALYZER.id, deep=True) as index:
        assert list(index.keys()) == [-2, 7, 9]
        assert keys(index, "浮標") == [9]
        assert keys(index, "灯火") == []
        assert sorted(keys(index, "船頭", where={"law": ["A"]})) == [7, 9]
    assert {path.name: path.read_bytes() for path in earlier.glob("[!.]*")} == before
    with BM25Index.open(earlier, analyzer=ANALYZER.id, deep=True) as index:
        assert list(index.keys()) == [-2, 3, 5, 7]
        monkeypatch.setattr("localrag_indexes.bm25._KEYS_AT_ONCE", 1)
        assert list(index.keys()) == [-2, 3, 5, 7], "also when they are looked up one by one"
        assert keys(index, "灯火")[0] in (3, 5)


def test_an_index_of_another_analyzer_is_not_updated(tmp_path: Path) -> None:
    class Other(Analyzer):
        id = "other-1"

    earlier = make(tmp_path / "earlier")
    (tmp_path / "later").mkdir()
    with pytest.raises(IndexVersionError):
        update(tmp_path / "later", earlier, [], [], analyzer=Other())
