import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from localrag import language
from localrag.corpus import config
from localrag.corpus.workspace import Workspace, change_setting
from localrag.errors import ConfigError, UsageError

from ..rows import each


@pytest.fixture
def workspace(home: Path) -> Workspace:
    place = Workspace.locate(home)
    place.init()
    return place


def test_defaults_need_no_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCALRAG_INGEST__WORKERS")
    assert config.load(Workspace.locate()) == config.Config()


def test_each_source_wins_over_the_one_before(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def k() -> object:
        return config.load(workspace).retrieval.k

    assert k() == 10
    workspace.settings.write_text("[retrieval]\nk = 11\n")
    assert k() == 11
    monkeypatch.setenv("LOCALRAG_RETRIEVAL__K", "12")
    assert k() == 12
    assert config.load(workspace, {"retrieval.k": 13, "corpus": None}).retrieval.k == 13


def test_explain_names_the_source_of_every_value(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.settings.write_text('corpus = "laws"\n')
    monkeypatch.setenv("LOCALRAG_INGEST__WORKERS", "3")
    found = {s.key: s for s in config.explain(workspace, {"retrieval.k": "5"})}
    assert (found["corpus"].value, found["corpus"].source) == ("laws", "localrag.toml")
    assert (found["ingest.workers"].value, found["ingest.workers"].source) == (
        3,
        "LOCALRAG_INGEST__WORKERS",
    )
    assert (found["retrieval.k"].value, found["retrieval.k"].source) == (5, "flag")
    assert found["ingest.max_file_mb"].source == "default"
    assert all(setting.help for setting in found.values())


@each(
    ("text", "message"),
    [
        ("[retrieval]\nkk = 3\n", r"no setting 'retrieval\.kk'.*Did you mean 'retrieval\.k'"),
        ("corpora = 'x'\n", r"no setting 'corpora'.*Did you mean 'corpus'"),
        ("zzzz = 1\n", r"no setting 'zzzz'\. Settings: corpus"),
        ("[retrieval]\nk = 0\n", r"retrieval\.k = 0 is not valid"),
        ("[retrieval]\nk = 'many'\n", r"retrieval\.k = 'many' is not valid"),
        ("retrieval = 3\n", "no setting 'retrieval'"),
        ("[retrieval\n", "cannot be read.*line 1"),
        ("k = 1\nk = 2\n", "cannot be read"),
        (f"k = {'[' * 5_000}", "cannot be read.*recursion"),
        (f"{'a.' * 150}k = 1", r"no setting 'a\.a\.a\.a'"),
        (f"{'a.' * 100_000}k = 1", "more than 200 dots"),
    ],
)
def test_bad_files_are_refused_with_the_cause(
    workspace: Workspace, text: str, message: str
) -> None:
    workspace.settings.write_text(text)
    with pytest.raises(ConfigError, match=message):
        config.load(workspace)


def test_a_file_that_is_no_text_is_refused(workspace: Workspace) -> None:
    workspace.settings.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(ConfigError, match="cannot be read"):
        config.load(workspace)


def test_unknown_environment_variables_are_refused(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCALRAG_RETREIVAL__K", "3")
    with pytest.raises(ConfigError, match=r"LOCALRAG_RETREIVAL__K: .*retrieval\.k"):
        config.load(workspace)


def test_unknown_flags_are_refused(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match="flag: there is no setting"):
        config.load(workspace, {"retrieval.depth": 3})


def test_several_servers_are_a_list_or_a_text(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = ("http://a:1/v1", "http://b:1/v1")
    assert config.load(workspace).chat.servers == ()
    assert config.load(workspace, {"chat.server": list(both)}).chat.servers == both
    workspace.settings.write_text(f'chat.server = ["{both[0]}", "{both[1]}"]\n')
    assert config.load(workspace).chat.servers == both
    monkeypatch.setenv("LOCALRAG_CHAT__SERVER", f"{both[1]},{both[0]},")
    assert config.load(workspace).chat.servers == both[::-1]
    with pytest.raises(UsageError, match=r"chat\.server"):
        config.load(workspace, {"chat.server": [1]})


def test_workers_zero_means_all_processors() -> None:
    assert config.IngestConfig(workers=0).processes == os.cpu_count()
    assert config.IngestConfig(workers=3).processes == 3


@pytest.mark.parametrize("code", language.LANGUAGES)
def test_the_template_shows_every_setting_with_its_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    monkeypatch.delenv("LOCALRAG_INGEST__WORKERS", raising=False)
    workspace = Workspace.locate(tmp_path / code)
    with language.using(code):
        workspace.init()
    template = workspace.settings.read_text(encoding="utf-8")
    assert ("設定" in template) == (code == "ja")
    shown = re.sub(r"(?m)^#(\w+ = )", r"\1", template)
    written: dict[str, object] = {}
    for section, value in tomllib.loads(shown).items():
        if isinstance(value, dict):
            written |= {f"{section}.{key}": one for key, one in value.items()}
        else:
            written[section] = value
    # Methods declare settings, too.
    assert written == {one.key: one.value for one in config.explain(workspace)}


def test_loading_does_not_import_the_heavy_libraries() -> None:
    code = "import sys, localrag.corpus.config, localrag.corpus.workspace; print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"platformdirs", "tantivy", "fugashi", "lxml", "httpx", "apsw"} & set(modules)


def test_a_corpus_has_settings_of_its_own_for_retrieval(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = workspace.corpus("main")
    corpus.settings.parent.mkdir(parents=True)
    corpus.settings.write_text("[retrieval]\nk = 20\n")
    workspace.settings.write_text("[retrieval]\nk = 11\n")
    assert config.load(workspace, corpus=corpus).retrieval.k == 20
    assert config.load(workspace, corpus=workspace.corpus("other")).retrieval.k == 11
    monkeypatch.setenv("LOCALRAG_RETRIEVAL__K", "12")
    assert config.load(workspace, corpus=corpus).retrieval.k == 12


def test_a_corpus_cannot_name_another_model(workspace: Workspace) -> None:
    corpus = workspace.corpus("main")
    corpus.settings.parent.mkdir(parents=True)
    corpus.settings.write_text("[chat]\nmodel = 'x'\n")
    with pytest.raises(ConfigError, match=r"main/settings\.toml.*'chat\.model'"):
        config.load(workspace, corpus=corpus)


def test_keys_of_the_workbench_are_a_table(workspace: Workspace) -> None:
    text = '[tui.keys]\n"app.help" = "ctrl+h"\n'
    workspace.settings.write_text(text, encoding="utf-8")
    assert config.load(workspace).tui.keys == {"app.help": "ctrl+h"}
    (keys,) = [one for one in config.explain(workspace) if one.key == "tui.keys"]
    assert (keys.value, keys.source) == ({"app.help": "ctrl+h"}, "localrag.toml")
    workspace.settings.write_text('[tui]\nkeys = "ctrl+h"\n', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"tui\.keys = 'ctrl\+h' is not valid \(not a table\)"):
        config.load(workspace)
    workspace.settings.write_text('[tui.keys]\n"app.help" = 3\n', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"tui\.keys\.app\.help = 3 is not valid \(not a text\)"):
        config.load(workspace)


@pytest.mark.parametrize(
    "text", ["", "[retrieval]\n#k = 10\n", "# x\n[retrieval] \nk = 3 # few\n[tui]\n"]
)
def test_a_setting_is_put_where_it_belongs(workspace: Workspace, text: str) -> None:
    workspace.settings.write_text(text)
    for key, value in (("retrieval.k", 4), ("corpus", 'a"b'), ("retrieval.lexical", False)):
        change_setting(workspace, key, value)
    changed = config.load(workspace)
    assert (changed.retrieval.k, changed.corpus, changed.retrieval.lexical) == (4, 'a"b', False)


def test_a_file_laid_out_otherwise_is_left_as_it_is(workspace: Workspace) -> None:
    workspace.settings.write_text("retrieval = { k = 3 }\n")
    with pytest.raises(ConfigError, match=r"retrieval\.k could not be changed") as told:
        change_setting(workspace, "retrieval.k", 4)
    assert "k = 4" in told.value.cure
    assert workspace.settings.read_text() == "retrieval = { k = 3 }\n"
