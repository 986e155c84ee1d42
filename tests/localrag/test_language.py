"""Everything is said in two languages."""

import catalogues
import pytest

from localrag import language

CODE = """
from localrag.language import N_, _, ngettext
_("Ask {model}")
N_("Quit")
print(f"{_('within')}: {N_('a line')}")
_(N_)
ngettext("{n} law", "{n} laws", 2)
"""


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A project with two rooms with messages, in the place of the real one."""
    for package in (*catalogues.DIVIDED, *catalogues.WHOLE):
        (tmp_path / package).mkdir(parents=True)
    bench = tmp_path / "tui" / "localrag_tui"
    (bench / "ask").mkdir()
    (bench / "ask" / "screen.py").write_text(CODE)
    (bench / "app.py").write_text('_("Quit")')
    monkeypatch.setattr(catalogues, "REPOSITORY", tmp_path)
    monkeypatch.setattr(language, "_LOCALE", tmp_path / "localrag" / "locale")
    return tmp_path


def translate(repository, room, **strings):
    path = repository / "localrag" / "locale" / "ja" / "LC_MESSAGES" / f"{room}.po"
    text = path.read_text()
    for message, string in strings.items():
        head, found, rest = text.partition(f'"{message}"\n')
        assert found, message
        kind, _, rest = rest.partition('""')
        text = f'{head}{found}{kind}"{string}"{rest}'
    path.write_text(text)


def test_everything_is_translated():
    assert catalogues.faults(catalogues.rooms()) == []


def test_messages_are_collected_compiled_and_spoken(repository):
    rooms = catalogues.rooms()
    assert catalogues.faults(rooms)[0] == "ja/localrag_tui: missing: 'Quit'"
    catalogues.update(rooms)
    assert "ja/localrag_tui: untranslated: 'Quit'" in catalogues.faults(rooms)
    ask = {
        "Ask {model}": "{model}に質問",
        "Quit": "終了",
        "within": "中",
        "a line": "行",
        "{n} laws": "{n} 件の法令",
    }
    translate(repository, "localrag_tui.ask", **ask)
    translate(repository, "localrag_tui", Quit="終了")
    assert catalogues.faults(rooms) == [
        "ja/localrag_tui: the compiled catalogue is behind",
        "ja/localrag_tui.ask: the compiled catalogue is behind",
    ]
    catalogues.update(rooms)
    assert catalogues.faults(rooms) == []
    compiled = repository / "localrag/locale/ja/LC_MESSAGES/localrag_tui.ask.mo"
    before = compiled.read_bytes()
    catalogues.update(rooms)
    assert compiled.read_bytes() == before
    language.use("ja")
    assert language._("Ask {model}") == "{model}に質問"
    assert language.ngettext("{n} law", "{n} laws", 1) == "{n} 件の法令"
    assert (language._(""), language._("unheard of")) == ("", "unheard of")
    language.use("en")
    assert language.ngettext("{n} law", "{n} laws", 1) == "{n} law"


def test_faults_are_told(repository):
    catalogues.update(catalogues.rooms())
    translate(repository, "localrag_tui.ask", **{"Ask {model}": "{name}に質問", "Quit": "終了"})
    translate(repository, "localrag_tui", Quit="やめる")
    (repository / "tui/localrag_tui/ask" / "screen.py").write_text('_("Ask {model}")\n_("Quit")')
    (repository / "localrag/locale/ja/LC_MESSAGES/gone.po").touch()
    told = catalogues.faults(catalogues.rooms())
    assert "ja/localrag_tui.ask: no longer used: ('{n} law', '{n} laws')" in told
    assert "ja/localrag_tui.ask: other placeholders than the original: 'Ask {model}'" in told
    assert "ja/localrag_tui.ask: 'Quit' is translated otherwise in ja/localrag_tui" in told
    assert "ja/gone: no room" in told


@pytest.mark.parametrize(
    ("variables", "code"),
    [
        ({}, "en"),
        ({"LANG": "ja_JP.UTF-8"}, "ja"),
        ({"LANG": "ja_JP.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
    ],
)
def test_the_environment_chooses_the_language(variables, code, monkeypatch):
    monkeypatch.delenv("LC_ALL")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert language.of_environment() == code


def test_a_piece_of_work_has_a_language_of_its_own():
    with language.using("ja"):
        assert language.in_use() == "ja"
        assert language._("Nothing was found.") != "Nothing was found."
        with language.using("en"):
            assert language._("Nothing was found.") == "Nothing was found."
    assert language.in_use() == "en"
