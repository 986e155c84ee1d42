"""Names in zips, as the programs of several systems write them."""

import io
import struct
import zipfile
import zlib

import pytest

from localrag.corpus.readers import ReadFailure

from ....rows import each

_NAMES = ["手引.txt", "別表第一.txt", "申請/予約.txt", "ソ十能.txt"]


def packed(*names: bytes, extra: bytes = b"") -> bytes:
    """A zip of members with these bytes for names, without the mark for UTF-8."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number, name in enumerate(names):
            # As long as the original name.
            held = zipfile.ZipInfo(f"{number}".ljust(len(name), "x"))
            held.extra = extra
            archive.writestr(held, f"文{number}。")
    data = out.getvalue()
    for number, name in enumerate(names):
        data = data.replace(f"{number}".ljust(len(name), "x").encode(), name)
    return data


@pytest.mark.parametrize("encoding", ["cp932", "utf-8", "euc_jp"])
def test_names_without_the_mark(encoding, read_bytes) -> None:
    found = read_bytes("a.zip", packed(*(name.encode(encoding) for name in _NAMES)))
    assert [one.id for one in found] == [f"a.zip!{name}" for name in _NAMES]
    assert [one.title for one in found] == ["手引", "別表第一", "予約", "ソ十能"]


def test_half_width_kana_are_no_euc(read_bytes) -> None:
    (found,) = read_bytes("a.zip", packed("ﾃﾞｰﾀ.txt".encode("cp932")))
    assert found.id == "a.zip!ﾃﾞｰﾀ.txt"


def test_western_names(read_bytes) -> None:
    (found,) = read_bytes("a.zip", packed("café.txt".encode("cp437")))
    assert found.id == "a.zip!café.txt"


def test_backslashes_between_folders(read_bytes) -> None:
    (found,) = read_bytes("a.zip", packed(r"申請\予約.txt".encode("cp932")))
    assert found.id == "a.zip!申請/予約.txt"


@each("name", [r"..\予約.txt", r"C:\予約.txt", r"\\share\予約.txt", "../表.txt"])
def test_paths_that_leave_the_archive_are_refused(name, read_bytes) -> None:
    (failure,) = read_bytes("a.zip", packed(name.encode("cp932")))
    assert isinstance(failure, ReadFailure)
    assert "out of the archive" in failure.cause


@pytest.mark.parametrize(("of", "told"), [(b"b.txt", "手引.txt"), (b"c.txt", "b.txt")])
def test_the_extra_field_names_the_member_that_it_is_of(of, told, read_bytes) -> None:
    field = struct.pack("<BL", 1, zlib.crc32(of)) + "手引.txt".encode()
    extra = struct.pack("<HH", 0x7075, len(field)) + field
    (found,) = read_bytes("a.zip", packed(b"b.txt", extra=extra))
    assert found.id == f"a.zip!{told}"


def test_names_are_one_line_in_the_order_in_which_they_are_written(read_bytes) -> None:
    (found,) = read_bytes("a.zip", packed("a\n1. 民法\u2028\u202eb.txt".encode()))
    assert found.id == "a.zip!a␊1. 民法<U+2028><U+202E>b.txt"


def test_what_systems_leave_behind_is_no_member(read_bytes) -> None:
    names = ("__MACOSX/._a.txt", "~$b.docx", "c/Thumbs.db", "d.txt")
    assert [one.id for one in read_bytes("a.zip", packed(*map(str.encode, names)))] == [
        "a.zip!d.txt"
    ]
