"""Keys can be changed; what cannot work is told, and every action is written down."""

from pathlib import Path

from localrag_tui.shell.keys import normal, objections, shortcuts, spelled, usable

from ...rows import each

GUIDE = Path(__file__).parents[3] / "docs" / "tui.md"


@each(
    ("key", "shown"),
    [
        ("ctrl+g", "Ctrl+G"),
        ("f1", "F1"),
        ("question_mark", "?"),
        ("slash", "/"),
        ("n", "n"),
        ("N", "N"),
        ("alt+left", "Alt+←"),
        ("shift+enter", "Shift+Enter"),
        ("pagedown", "PgDn"),
        ("home", "Home"),
        ("end", "End"),
        ("ctrl+f5", "Ctrl+F5"),
    ],
)
def test_keys_are_spelled_as_on_a_keyboard(key, shown):
    assert spelled(key) == shown


@each(
    ("keys", "good"),
    [
        ("f9", True),
        ("Ctrl+N, F9", True),
        ("?", True),
        ("question_mark", True),
        ("N", True),
        ("ctrl+right", True),
        ("", False),
        ("ctrl+", False),
        ("strg+x", False),
        ("f9,", False),
        ("anything", False),
    ],
)
def test_what_is_no_key_is_known(keys, good):
    assert usable(normal(keys)) is good


def test_wrong_keys_are_objected_to():
    told = objections(
        {
            "app.halp": "f9",
            "nothing.like.it": "f9",
            "app.help": "strg+x",
            "app.jump": "F1",
            "app.jobs": "f12",
            "app.palette": "f12",
        }
    )
    causes = "\n".join(objection.cause for objection in told)
    assert len(told) == 5
    assert "No action is called app.halp" in causes
    assert '"strg+x" is no key; app.help keeps its own' in causes
    assert "F1 is assigned to both app.jump and app.help" in causes
    assert "F12 is assigned to both app.jobs and app.palette" in causes
    assert all(objection.cure for objection in told)


@each("key", ["enter", "a", "space", "shift+tab", "up", "escape"])
def test_a_key_that_fields_need_is_refused(key):
    (told,) = objections({"app.help": key})
    assert told.refused
    assert told.id == "app.help"
    assert f"Fields and lists need {spelled(key)}; app.help keeps its own" in told.cause


@each(
    "chosen",
    [
        {"app.help": "ctrl+h"},
        {"ask.send": "f12,enter"},
        {"models.use": "y"},
    ],
)
def test_a_key_that_no_field_needs_is_taken(chosen):
    assert objections(chosen) == []


async def test_wrong_keys_are_told_in_view_and_take_no_key_from_a_field(plain, shown, until):
    app = plain("ja")
    app.workspace.settings.write_text(
        """[tui.keys]
        "app.halp" = "f9"
        "app.help" = "enter"
        "app.jump" = "hoge"
        "ask.send" = "a"
        "app.jobs" = "f12"
        "app.settings" = "f12"
        """,
        encoding="utf-8",
    )
    app = plain("ja")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        line = app.screen.query_one("#line")
        line.focus()
        await pilot.press("a", "enter")
        assert line.value == "a"
        assert app.screen_stack[1:] == []
        await until(pilot, lambda: "tui.keys" in shown(app))
        told = shown(app)
        assert "app.halp という操作はありません" in told
        assert "Enter は入力や選択に使うため割り当てられません" in told
        assert "「hoge」はキーではありません" in told
        assert "ask.send" in told
        assert "残り 1 件" in told
        assert "ask.send" not in app.keymap
        assert app.keymap["app.jobs"] == "f12"


def test_two_actions_may_change_keys():
    assert objections({"app.jump": "ctrl+b", "app.jobs": "ctrl+g"}) == []


def test_every_action_is_written_down():
    wanted = ["| action | keys | what it does |", "|---|---|---|"]
    described = (shortcut for shortcut in shortcuts().values() if shortcut.description)
    for shortcut in described:
        keys = " ".join(f"`{spelled(key)}`" for key in shortcut.keys)
        wanted.append(f"| {shortcut.id} | {keys} | {shortcut.description} |")
    table = "\n".join(wanted)
    assert table in GUIDE.read_text(encoding="utf-8"), f"docs/tui.md must say\n{table}"
