"""Every benchmark runs, on data so small that its figures mean nothing."""

import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from printed_pages import PrintedPages
from tiny_models.full_size import Shape

from localrag.ops.bundle.make import BundleContents

from ..patience import PATIENCE
from ..tiny_bundle import make_bundle

BENCHES = Path(__file__).parents[2] / "scripts" / "bench"
# By benchmark, and case where it has some, its arguments, with what the tests make in braces.
RUNS = {
    "office_files": ["--files=5"],
    "analysis": ["--laws=1"],
    "archives": ["--only", "zip_in_zip", "xml_items_in_items"],
    "comparison": ["--wrong"],
    "ingest": ["--workers=1"],
    "readers": [],
    "references": ["--all-laws"],
    "ocr": ["--pages=1", "--only=60 dpi", "--lines=2"],
    "changed_provisions": ["--sample=2", "--kind=requires"],
    "jlawcite_edges": ["--draw=1"],
    "jsquad": ["--limit=2"],
    "delegated_rules": ["--show"],
    "lawyers": ["--parts", "--questions={lawyers}"],
    "multihop": [],
    "sentences": [],
    "size": ["--repository={rooms}"],
    "pdf_text": ["--files=2", "--misses"],
    "provision_recall": ["--misses", "--all-laws"],
    "spoiled_claims": ["--misses"],
    "statute_lexical": ["--embedder={embedder}"],
    "statute_queries": [],
    "staged_symbolic": ["--more=1"],
    "knowledge": ["--triples=50", "--index"],
    "tuning": ["--corpus=jsquad-alone"],
    "hostile": ["--model={chat}", "--threads=1"],
    "jsquad_claims": [
        "--model={chat}",
        "--threads=1",
        "--limit=1",
        "--set=chat.context=4096",
        "--withheld",
    ],
    "staged": ["--limit=1", "--tokens=20"],
    "structured": ["--replies=3"],
    "prefix_reuse": ["--sentences=2", "--document=50"],
    "prompt_batches": ["{chat}", "--tokens=32", "--rounds=1"],
    "legal_check": ["--misses", "--pages=1"],
    "fact_check": ["--misses", "--sentences=9"],
    "cited_first": ["--laws=2", "--count=2", "--misses"],
    "watching": ["--files=10", "--bursts=1", "--kills=1"],
    "pending": ["--laws=1", "--memos=2", "--citations=4"],
    "affected": ["--count=5", "--citing=20"],
    "defined_terms": ["--count=5", "--without", "--misses"],
    "hops": [],
    "typed_citations": ["--count=3", "--misses"],
    "folding": ["--count=1", "--misses"],
    "streaming": ["--tokens=20", "--runs=1"],
    "chat_reranking": ["{chat}", "--questions={lawyers}/asked.jsonl", "--depth=2", "--threads=1"],
    "check_growth": ["--sizes", "20", "40", "--searches=2"],
    "serve": [
        "--home={home}",
        "--clients=2",
        "--searches=4",
        "--warm=1",
        "--minutes=0.005",
        "--body=2",
    ],
    "startup": ["--rounds=1", "--home={home}"],
    "bundle": ["{bundle}"],
    "ray_batch": ["--questions=2", "--kills=0", "--tokens=8", "--simulated=2", "--rounds=1"],
    "workbooks": ["--rows=30"],
    "kill add": ["--rounds=1", "--size=3"],
    "kill update": ["undo", "law", "--rounds=1", "--size=3"],
    "kill embedding": ["--rounds=1", "--size=1", "--graph-from=10"],
    "kill prepare": ["--rounds=1", "--size=3"],
    "kill conversation": ["--rounds=1"],
    "kill backup": ["restore", "bundle", "--rounds=1"],
    "kill batch": ["--rounds=1", "--size=3"],
    "kill evaluation": ["--rounds=1", "--size=4"],
    "kill optimisation": ["--rounds=1", "--size=4", "--calls=6"],
    "incremental": ["--laws=3", "--questions=1", "--workers=1"],
    "laws_download": ["--laws=5", "--kills=1"],
    "flipped": ["--rounds=1", "--parts", "settings"],
    "full_disk": ["--rounds=1", "--jobs", "update"],
    "fuzz": ["--seconds=0.3", "--parsers", "settings", "--growth-to=4096"],
    "sockets": ["--steps", "add", "--files=1"],
    "layers": ["--first=2", "--embedder={embedder}", "--split=gold", "--read", "--model={chat}"],
    "facets": ["--laws=3", "--questions=2"],
    "prepare": ["--first=3", "--model={chat}", "--max-tokens=8", "--kills=1"],
    "evaluation": ["--limit=2", "--kills=0", "--method=statute-lexical"],
    "question_index": [
        "--questions=1",
        "--beside=1",
        "--model={chat}",
        "--embedder={embedder}",
        "--max-tokens=8",
        "--threads=1",
    ],
    "served_vectors": ["{folder}", "{embedder}", "--texts=3"],
    "vector_index": ["--count=200", "--queries=5", "--dimension=8", "--only-ours"],
    "wikipedia": ["--articles=20", "--kills=1", "--workers=1"],
    "model_shapes": ["--shape=qwen3-8b", "--prompt=32", "--generate=2"],
    "tui": ["--home={home}", "--runs=1", "first"],
    "word_files": ["--random=6"],
    "written_searches": [
        "{chat}",
        "--questions={lawyers}/asked.jsonl",
        "--prompt={lawyers}/prompt.txt",
        "--threads=1",
    ],
}
MOST = {"hops": 8, "files": 53, "modules": 88}
"""Counts of `hops` for one question without a model; write lower ones here."""


def at_most(printed: str) -> None:
    """A question runs through no more than it did."""
    counts = {name: int(n) for name, n in re.findall(r"(hops|files|modules) (\d+)", printed)}
    assert {name for name, n in counts.items() if n > MOST[name]} == set()


def write_rooms(folder: Path) -> Path:
    """Three modules in three rooms, the same in each."""
    code = "import re\n\n\nclass A:\n    def f(self):\n        # why\n        return 1\n"
    for name in ("localrag/a.py", "localrag/room/b.py", "tui/c.py"):
        path = folder / "rooms" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'"""Two\nlines."""\n\n{code}', encoding="utf-8")
    return folder / "rooms"


def code_apart(printed: str) -> None:
    """Code is counted apart from what explains it."""
    rows = {line.split()[0]: line.split()[1:] for line in printed.splitlines()}
    assert rows["localrag/room"] == ["1", "3", "2", "1", "1", "2", "2"]
    assert rows["all"] == ["3", "9", "6", "3", "3", "2", "2"]
    assert rows["A"] == ["3"]


# What is asserted of the words of a benchmark, besides that there are some.
PRINTED = {"hops": at_most, "size": code_apart}
# What is made for the benchmarks whose arguments name it, from the fixtures and the work folder.
MADE = {
    "chat": lambda request, _: request.getfixturevalue("tiny_chat"),
    "embedder": lambda request, _: request.getfixturevalue("tiny_encoder").gguf,
    "folder": lambda request, _: request.getfixturevalue("tiny_encoder").sentence_transformers,
    "home": lambda request, _: request.getfixturevalue("sample_home"),
    "lawyers": lambda request, _: request.getfixturevalue("lawyers"),
    "bundle": lambda _, work: make_bundle(work, BundleContents()),
    "rooms": lambda _, work: write_rooms(work),
}
# What a benchmark needs that `make test` does not install.
NEEDS = {"ray_batch": "ray", "watching": "watchdog"}
# The ways in which `legal_check` spoils what it checks.
_WAYS = (
    *("article", "paragraph", "branch", "era", "law"),
    *("words", "figure", "bound", "deleted"),
)
# What a benchmark does more often than it can be told, or on a larger scale: module and name.
SMALLER = {
    "watching": {"bench.watching.IDLE": 0.1},
    "statute_lexical": {
        "train_statute_lexical.FOLDS": 2,
        "train_statute_lexical.INNER_FOLDS": 2,
        "train_statute_lexical.REPEATS": 1,
        "train_statute_lexical.PENALTIES": (1.0,),
        "bench.statute_lexical._DRAWS": 10,
    },
    "kill add": {"bench.kill.WORKERS": 1},
    "kill update": {"bench.kill.WORKERS": 1},
    # They are killed until a kill comes before the end: here it comes before the beginning.
    "kill embedding": {"random.Random.uniform": lambda _, first, end: first},
    "kill prepare": {"random.Random.uniform": lambda _, first, end: first},
    "kill conversation": {"bench.kill.Conversing.seconds": 0.1},
    "kill optimisation": {
        "bench.killed_models.SETTINGS": {
            "chat.model": "tiny-random",
            "chat.temperature": 1.0,
            "chat.max_tokens": 64,
            "runtime.threads": 1,
        }
    },
    "legal_check": {
        "bench.legal_check.WORKERS": 1,
        "bench.legal_check._SPOILED": dict.fromkeys(_WAYS, 1),
        "bench.legal_check._ITEMS": 2 * len(_WAYS),
        "bench.legal_check._PARAGRAPHS": 3,
        "bench.legal_check._TRIES": 30,
    },
    "ocr": {"bench.ocr.CONDITIONS": {"60 dpi": SimpleNamespace(dpi=60, scan=None)}},
    "office_files": {"bench.office_files.Writer.sentences": lambda writer, _: [writer.sentence()]},
    # How long a busy machine takes says nothing.
    "evaluation": {"bench.evaluation._ALLOWED_SECONDS": PATIENCE},
    "model_shapes": {
        "tiny_models.full_size.QWEN3_8B": Shape(
            layers=1,
            width=256,
            heads=2,
            kv_heads=1,
            head_width=128,
            feed_forward=256,
            tokens=1024,
            context=2048,
        )
    },
}


def can_run(program: str) -> bool:
    """Whether a program is there and may do what a benchmark has it do."""
    options = {"strace": ["-f", "-qq"], "unshare": ["--user", "--map-root-user", "--net"]}
    try:
        tried = subprocess.run([program, *options[program], "true"], capture_output=True)
    except OSError:
        return False
    return tried.returncode == 0


def test_every_benchmark_is_run():
    scripts = {path.stem for path in BENCHES.glob("*.py") if "__main__" in path.read_text()}
    assert scripts == {name.split()[0] for name in RUNS}


@pytest.mark.parametrize("name", RUNS)
def test_it_runs(name, data, work, request, monkeypatch, capsys):
    if find_spec(package := NEEDS.get(name, "localrag")) is None:
        pytest.skip(f"needs {package}, which is not installed")
    if name == "full_disk":
        request.getfixturevalue("small_disk")
    if name == "sockets" and not all(map(can_run, ("strace", "unshare"))):
        pytest.skip("needs strace, and the right to take a network away (Linux)")
    if name in ("serve", "served_vectors", "check_growth", "laws_download"):
        request.getfixturevalue("loopback")
    monkeypatch.setenv("LOCALRAG_SHARED_DATA", str(data))
    # Without a vocabulary the models are small.
    monkeypatch.delenv("LOCALRAG_TEST_VOCABULARY", raising=False)
    # Several processes would cost a second for each corpus.
    monkeypatch.setattr("bench.corpora.WORKERS", 1)
    for constant, value in SMALLER.get(name, {}).items():
        monkeypatch.setattr(constant, value)
    script, *case = name.split()
    path = BENCHES / f"{script}.py"
    wanted = " ".join(RUNS[name])
    made = {what: make(request, work) for what, make in MADE.items() if f"{{{what}}}" in wanted}
    given = [argument.format(**made) for argument in RUNS[name]]
    if "work=True" in path.read_text():
        given.append(f"--work={work}")
    monkeypatch.setattr(sys, "argv", [str(path), *case, *given])
    assert not import_module(f"bench.{script}").main()
    printed = capsys.readouterr().out
    assert printed
    PRINTED.get(name, len)(printed)


def test_pdf_text_compares_files_with_their_web_pages(tmp_path, monkeypatch, capsys):
    pages = PrintedPages()
    pages.page()
    lines = (
        "渡し場の使用料は、増水のときを除いて、一回に",
        "つき三百円とし、乗船のときに払うものとする。",
    )
    for at, line in enumerate(lines):
        pages.text(60, 780 - 17 * at, line)
    (tmp_path / "a.pdf").write_bytes(pages.to_bytes())
    (tmp_path / "a.html").write_text(
        f"<meta charset=utf-8><p>{''.join(lines)}</p>", encoding="utf-8"
    )
    monkeypatch.setattr(sys, "argv", ["pdf_text.py", f"--real={tmp_path}"])
    import_module("bench.pdf_text").main()
    assert "sentences right 1.000" in capsys.readouterr().out


def test_pdf_text_names_the_programs_that_an_interpreter_lacks(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    arguments = ["pdf_text.py", f"--tools={sys.executable}", "--files=0"]
    monkeypatch.setattr(sys, "argv", arguments)
    import_module("bench.pdf_text").main()
    out = capsys.readouterr().out
    assert "soffice" in out.splitlines()[0]
    assert "0 files" in out
