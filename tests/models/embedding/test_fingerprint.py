"""Ids of models change with their weights, and cost little."""

from pathlib import Path

from localrag_models.files import fingerprint

MEGABYTE = 2**20


def test_same_contents_same_fingerprint(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.gguf").write_bytes(b"weights" * MEGABYTE)
    one, other = ([tmp_path / name / "model.gguf"] for name in ("a", "b"))
    assert fingerprint(one) == fingerprint(other)
    assert len(fingerprint(one)) == 8
    assert fingerprint(one) != fingerprint(one, also="query: ")


def test_any_byte_of_a_small_file_counts(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    seen = set()
    for at in range(0, 3 * MEGABYTE, MEGABYTE // 2):
        contents = bytearray(3 * MEGABYTE)
        contents[at] = 1
        path.write_bytes(contents)
        seen.add(fingerprint([path]))
    assert len(seen) == 6


def test_other_weights_of_a_large_file_count(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    head = bytes(4 * MEGABYTE)
    path.write_bytes(head + bytes(20 * MEGABYTE))
    before = fingerprint([path])
    # A hundredth of the weights, all in one place.
    path.write_bytes(head + bytes(10 * MEGABYTE) + b"\1" * (MEGABYTE // 5))
    with path.open("ab") as file:
        file.truncate(24 * MEGABYTE)
    assert fingerprint([path]) != before
