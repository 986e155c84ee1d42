"""Tables of normalisation that lead out of themselves are refused before llama.cpp walks them."""

import random
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_models.encoder import TinyEncoder

from localrag_models.backends.llama_cpp.native import check_normalisation
from localrag_models.errors import ModelDamaged
from localrag_models.gguf import Header, read_header

KEY = "tokenizer.ggml.precompiled_charsmap"


def table_of(path: Path) -> bytes:
    return bytes(read_header(path).metadata[KEY])  # type: ignore[arg-type]


def header(table: bytes) -> Header:
    return Header(Path("model.gguf"), {KEY: tuple(table)}, (), 0)


def test_a_sound_table_and_none_at_all(tiny_encoder: TinyEncoder) -> None:
    check_normalisation(read_header(tiny_encoder.gguf))
    check_normalisation(Header(Path("model.gguf"), {}, (), 0))


def test_tables_that_are_cut_short_or_say_so(tiny_encoder: TinyEncoder) -> None:
    table = table_of(tiny_encoder.gguf)
    (size,) = struct.unpack("<I", table[:4])
    beyond = struct.pack("<I", 0x3FFFFF << 10)
    for damaged in (
        b"\1",
        table[:100],
        struct.pack("<I", len(table)) + table[4:],
        struct.pack("<I", size + 1) + table[4:],
        table[:4] + beyond + table[8:],
        table[: 4 + size],
    ):
        with pytest.raises(ModelDamaged, match=r"model\.gguf normalises text"):
            check_normalisation(header(damaged))


PROBE = """
import sys
from pathlib import Path
from localrag_models.backends.llama_cpp import native
if sys.argv[2] == "unchecked":
    native.check_normalisation = lambda header: None
model = native.Model(Path(sys.argv[1]), "embedder")
for start in range(0x80, 0x20000, 0x4000):
    model.tokenize("".join(map(chr, range(start, start + 0x4000))).encode(errors="ignore").decode())
"""


def probe(path: Path, how: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROBE, str(path), how]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_damaged_table_ends_no_process(tiny_encoder: TinyEncoder, tmp_path: Path) -> None:
    whole, table = tiny_encoder.gguf.read_bytes(), table_of(tiny_encoder.gguf)
    at = whole.index(table)
    (size,) = struct.unpack("<I", table[:4])
    chance = random.Random(1)
    damaged = bytearray(table)
    for _ in range(500):
        damaged[chance.randrange(4, 4 + size)] = chance.randrange(256)
    path = tmp_path / "damaged.gguf"
    path.write_bytes(whole[:at] + damaged + whole[at + len(table) :])
    assert probe(path, "unchecked").returncode < 0, "llama.cpp ends the process"
    checked = probe(path, "checked")
    assert checked.returncode == 1
    assert "ModelDamaged" in checked.stderr
