"""Text from elsewhere is shown as it is, and does nothing."""

from localrag_tui.shown import content

HOSTILE = "[red]赤[/red] [@click=app.quit]x[/] \x1b[2J\x07 \u202eabc\u2066 \udcff ［全角］"


def test_brackets_stay_brackets_and_escapes_are_seen():
    shown = content(HOSTILE, "bold")
    assert (
        shown.plain == "[red]赤[/red] [@click=app.quit]x[/] ␛[2J␇ \ufffdabc\ufffd \ufffd ［全角］"
    )
    assert {span.style for span in shown.spans} == {"bold"}


def test_lines_stay_lines():
    assert content("一\n\t二").plain == "一\n\t二"
