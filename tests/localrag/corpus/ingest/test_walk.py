import os
from pathlib import Path

import pytest

from localrag.corpus.ingest.reading import walk
from localrag.corpus.readers import supported
from localrag.errors import NotFoundError


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    return path


def test_files_come_sorted_and_named_from_their_folder(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.md", "a.txt", "c/d/e.xml"):
        touch(tmp_path / "in" / name)
    found = walk([tmp_path / "in"], supported)
    assert [file.name for file in found.files] == ["a/z.md", "a.txt", "b.txt", "c/d/e.xml"]
    assert all(file.path.is_absolute() and file.bytes == 1 for file in found.files)


def test_what_is_left_behind_is_no_file_and_other_kinds_are_named(tmp_path: Path) -> None:
    left_behind = (".git/a.txt", ".DS_Store", "~$a.docx", "b/Thumbs.db", "desktop.ini")
    for name in (*left_behind, "p.dwg", "q.doc", "Makefile", "a.txt"):
        touch(tmp_path / "in" / name)
    found = walk([tmp_path / "in"], supported)
    assert [file.name for file in found.files] == ["a.txt"]
    named = {Path(one.source).name: one.cause for one in found.passed_over}
    assert list(named) == ["Makefile", "p.dwg", "q.doc"]
    assert "no reader for .dwg" in named["p.dwg"]
    assert ".doc is not read as it is" in named["q.doc"]
    assert [one.suffix for one in found.passed_over] == ["Makefile", ".dwg", ".doc"]


def test_a_file_named_outright_is_taken_whatever_it_is(tmp_path: Path) -> None:
    photo = touch(tmp_path / "photo.png")
    assert [file.path for file in walk([photo], supported).files] == [photo]


def test_a_file_is_found_once(tmp_path: Path) -> None:
    touch(tmp_path / "in" / "a" / "b.txt")
    found = walk([tmp_path / "in", tmp_path / "in" / "a", tmp_path / "in/a/b.txt"], supported)
    assert [file.name for file in found.files] == ["a/b.txt"]


def test_links_inside_a_folder_are_named_and_not_followed(tmp_path: Path) -> None:
    touch(tmp_path / "in" / "a.txt")
    touch(tmp_path / "outside" / "b.txt")
    (tmp_path / "in" / "file.txt").symlink_to(tmp_path / "outside" / "b.txt")
    (tmp_path / "in" / "folder").symlink_to(tmp_path / "outside")
    (tmp_path / "in" / "nowhere.txt").symlink_to(tmp_path / "nowhere")
    found = walk([tmp_path / "in"], supported)
    assert [file.name for file in found.files] == ["a.txt"]
    assert [Path(one.source).name for one in found.passed_over] == [
        "file.txt",
        "folder",
        "nowhere.txt",
    ]
    assert all("--follow-links" in one.cure for one in found.passed_over)
    assert found.unreadable == ()


def test_a_link_that_is_named_outright_is_followed(tmp_path: Path) -> None:
    touch(tmp_path / "outside" / "b.txt")
    (tmp_path / "link").symlink_to(tmp_path / "outside")
    assert [file.name for file in walk([tmp_path / "link"], supported).files] == ["b.txt"]


def test_links_are_followed_on_request_but_not_in_circles(tmp_path: Path) -> None:
    touch(tmp_path / "in" / "a.txt")
    touch(tmp_path / "outside" / "b.txt")
    (tmp_path / "in" / "loop").symlink_to(tmp_path / "in")
    (tmp_path / "in" / "other").symlink_to(tmp_path / "outside")
    (tmp_path / "in" / "dangling.txt").symlink_to(tmp_path / "nowhere")
    found = walk([tmp_path / "in"], supported, follow_links=True)
    assert [file.name for file in found.files] == ["a.txt", "other/b.txt"]


def test_pipes_and_sockets_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    os.mkfifo(tmp_path / "in" / "pipe.txt")
    found = walk([tmp_path / "in"], supported)
    assert found.files == ()
    assert [Path(one.source).name for one in found.passed_over] == ["pipe.txt"]


def test_a_folder_that_cannot_be_read_is_told_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch(tmp_path / "in" / "closed" / "a.txt")
    touch(tmp_path / "in" / "open" / "b.txt")
    scan = os.scandir

    def scandir(path: Path) -> object:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = walk([tmp_path / "in"], supported)
    assert [file.name for file in found.files] == ["open/b.txt"]
    assert found.unreadable == (tmp_path / "in" / "closed",)


def test_a_missing_path_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="nowhere"):
        walk([tmp_path / "nowhere"], supported)


def test_covers_is_about_folders_not_spellings(tmp_path: Path) -> None:
    touch(tmp_path / "in" / "a.txt")
    found = walk([tmp_path / "in"], supported)
    assert found.covers(f"{tmp_path}/in/x/y.txt")
    assert not found.covers(f"{tmp_path}/in2/x.txt")
