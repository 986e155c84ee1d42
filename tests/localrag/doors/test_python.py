"""`import localrag`: its examples run, its names are there, what it opened is let go of."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import localrag
from localrag import language
from localrag.doors import api

from ...patience import PATIENCE

DOC = Path(__file__).parents[3] / "docs" / "python.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", DOC.read_text(encoding="utf-8"), re.DOTALL)


def test_six_lines_from_an_empty_folder_to_a_cited_answer(tmp_path):
    finished = subprocess.run(
        [sys.executable, "-c", EXAMPLES[0]],
        cwd=tmp_path,
        capture_output=True,
        check=True,
        timeout=PATIENCE,
        encoding="utf-8",
    )
    assert len(EXAMPLES[0].strip().splitlines()) <= 7
    assert "第八条" in finished.stdout
    assert finished.stderr == ""


def test_the_examples_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    namespace = {}
    for example in EXAMPLES:
        exec(example, namespace)
    namespace["corpus"].close()
    namespace["fewer"].close()
    out = capsys.readouterr().out
    assert "\n1 0\n" in out
    assert out.rstrip().endswith("3")


def test_what_it_gives_is_there():
    assert all(hasattr(localrag, name) for name in api.__all__)
    assert set(api.__all__) <= set(dir(localrag))
    with pytest.raises(AttributeError, match="nothing"):
        localrag.nothing  # noqa: B018


def test_a_corpus_that_is_not_there_is_named(home):
    session = localrag.open()
    with pytest.raises(localrag.NotFoundError, match="There is no corpus 'main'"):
        session.corpus().ask("渡し舟")
    language.use("ja")
    with pytest.raises(localrag.NotFoundError, match="コーパス「main」はありません"):
        session.corpus().ask("渡し舟")
    with pytest.raises(localrag.UsageError):
        session.corpus("../x")
    assert session.corpora() == []


def test_what_cannot_be_asked_is_told(sample):
    with localrag.open(sample).corpus() as corpus:
        assert repr(corpus) == f"Corpus('main' in {str(sample)!r})"
        for text, cause in (("　", "no word"), ("水\ud800", "half a character")):
            with pytest.raises(localrag.UsageError, match=cause):
                corpus.ask(text)
        for k in (0, -1):
            with pytest.raises(localrag.UsageError, match="finds nothing"):
                corpus.search("渡し守", k)


def test_what_has_changed_is_opened_anew(sample, tmp_path):
    (tmp_path / "kites.md").write_text("# 凧揚げ大会\n\n凧揚げ大会は四月に開かれる。\n")
    with localrag.open(sample).corpus() as corpus, localrag.open(sample).corpus() as other:
        before = corpus.search("凧揚げ大会").hits
        corpus.store  # noqa: B018 - to look at it opens it
        other.add(tmp_path / "kites.md")
        other.index()
        assert "四月" in corpus.search("凧揚げ大会").hits[0].passage.text
        assert corpus.search("凧揚げ大会").hits != before
        [page] = [one for one in corpus.documents("markdown") if "凧揚げ" in one.title]
        corpus.remove(page.id)
        corpus.index()
        assert corpus.search("凧揚げ大会").hits == before
        corpus.delete()
        with pytest.raises(localrag.NotFoundError):
            other.search("凧揚げ大会")
