"""The interface speaks two languages, and says everything in both."""

import catalogues
import pytest

from localrag_tui import i18n

CODE = """
from localrag_tui.i18n import N_, _, ngettext
_("Ask {model}")
N_("Quit")
print(f"{_('within')}: {N_('a line')}")
_(N_)
ngettext("{n} law", "{n} laws", 2)
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A workbench with two rooms, in the place of the real one."""
    for room in ("shell", "ask"):
        (tmp_path / room).mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "ask" / "screen.py").write_text(CODE)
    (tmp_path / "app.py").write_text('_("Quit")')
    monkeypatch.setattr(catalogues, "PACKAGE", tmp_path)
    monkeypatch.setattr(i18n, "_LOCALE", tmp_path / "locale")
    return tmp_path


def translate(package, room, **strings):
    path = package / "locale" / "ja" / "LC_MESSAGES" / f"{room}.po"
    text = path.read_text()
    for message, string in strings.items():
        head, found, rest = text.partition(f'"{message}"\n')
        assert found, message
        kind, _, rest = rest.partition('""')
        text = f'{head}{found}{kind}"{string}"{rest}'
    path.write_text(text)


def test_everything_is_translated():
    assert catalogues.faults(catalogues.rooms()) == []


def test_messages_are_collected_compiled_and_spoken(package):
    rooms = catalogues.rooms()
    assert catalogues.faults(rooms)[0].startswith("ja/ask: missing")
    catalogues.update(rooms)
    assert "ja/shell: untranslated: 'Quit'" in catalogues.faults(rooms)
    ask = {
        "Ask {model}": "{model}に質問",
        "Quit": "終了",
        "within": "中",
        "a line": "行",
        "{n} laws": "{n} 件の法令",
    }
    translate(package, "ask", **ask)
    translate(package, "shell", Quit="終了")
    assert catalogues.faults(rooms) == [
        "ja/ask: the compiled catalogue is behind",
        "ja/shell: the compiled catalogue is behind",
    ]
    catalogues.update(rooms)
    assert catalogues.faults(rooms) == []
    compiled = package / "locale/ja/LC_MESSAGES/ask.mo"
    before = compiled.read_bytes()
    catalogues.update(rooms)
    assert compiled.read_bytes() == before
    i18n.use("ja")
    assert i18n._("Ask {model}") == "{model}に質問"
    assert i18n.ngettext("{n} law", "{n} laws", 1) == "{n} 件の法令"
    assert (i18n._(""), i18n._("unheard of")) == ("", "unheard of")
    i18n.use("en")
    assert i18n.ngettext("{n} law", "{n} laws", 1) == "{n} law"


def test_faults_are_told(package):
    catalogues.update(catalogues.rooms())
    translate(package, "ask", **{"Ask {model}": "{name}に質問", "Quit": "終了"})
    translate(package, "shell", Quit="やめる")
    (package / "ask" / "screen.py").write_text('_("Ask {model}")\n_("Quit")')
    (package / "locale/ja/LC_MESSAGES/gone.po").touch()
    told = catalogues.faults(catalogues.rooms())
    assert "ja/ask: no longer used: ('{n} law', '{n} laws')" in told
    assert "ja/ask: other placeholders than the original: 'Ask {model}'" in told
    assert "ja/shell: 'Quit' is translated otherwise in ja/ask" in told
    assert "ja/gone: no room" in told


@pytest.mark.parametrize(
    ("variables", "language"),
    [
        ({}, "en"),
        ({"LANG": "ja_JP.UTF-8"}, "ja"),
        ({"LANG": "ja_JP.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
    ],
)
def test_the_environment_chooses_the_language(variables, language, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert i18n.of_environment() == language
