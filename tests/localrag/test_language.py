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
    """A project of two files with messages, in place of the real one."""
    for package in catalogues.PACKAGES:
        (tmp_path / package).mkdir(parents=True)
    bench = tmp_path / "tui" / "localrag_tui"
    (bench / "ask").mkdir()
    (bench / "ask" / "screen.py").write_text(CODE)
    (bench / "app.py").write_text('_("Quit")')
    monkeypatch.setattr(catalogues, "REPOSITORY", tmp_path)
    monkeypatch.setattr(language, "_LOCALE", tmp_path / "localrag" / "locale")
    return tmp_path


def translate(repository, **strings):
    path = repository / "localrag" / "locale" / "ja" / "LC_MESSAGES" / "localrag.po"
    text = path.read_text()
    for message, string in strings.items():
        head, found, rest = text.partition(f'"{message}"\n')
        assert found, message
        kind, _, rest = rest.partition('""')
        text = f'{head}{found}{kind}"{string}"{rest}'
    path.write_text(text)


def test_everything_is_translated():
    assert catalogues.faults() == []


def test_messages_are_collected_compiled_and_spoken(repository):
    assert "ja: missing: 'Ask {model}'" in catalogues.faults()
    catalogues.update()
    assert "ja: untranslated: 'Quit'" in catalogues.faults()
    ask = {
        "Ask {model}": "{model}に質問",
        "Quit": "終了",
        "within": "中",
        "a line": "行",
        "{n} laws": "{n} 件の法令",
    }
    translate(repository, **ask)
    assert catalogues.faults() == ["ja: the compiled catalogue is behind"]
    catalogues.update()
    assert catalogues.faults() == []
    compiled = repository / "localrag/locale/ja/LC_MESSAGES/localrag.mo"
    before = compiled.read_bytes()
    catalogues.update()
    assert compiled.read_bytes() == before
    language.use("ja")
    assert language._("Ask {model}") == "{model}に質問"
    assert language.ngettext("{n} law", "{n} laws", 1) == "{n} 件の法令"
    assert (language._(""), language._("unheard of")) == ("", "unheard of")
    language.use("en")
    assert language.ngettext("{n} law", "{n} laws", 1) == "{n} law"


def test_faults_are_told(repository):
    catalogues.update()
    translate(repository, **{"Ask {model}": "{name}に質問", "Quit": "終了"})
    (repository / "tui/localrag_tui/ask" / "screen.py").write_text('_("Ask {model}")\n_("Quit")')
    found = catalogues.faults()
    assert "ja: no longer used: ('{n} law', '{n} laws')" in found
    assert "ja: other placeholders than the original: 'Ask {model}'" in found


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
