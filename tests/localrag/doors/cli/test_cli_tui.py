"""The verb that opens the workbench; the workbench itself is tested in tests/localrag_tui."""

import pytest


def test_without_a_terminal_it_says_so_and_touches_nothing(cli, home):
    outcome = cli("tui")
    assert outcome.code == 2
    assert "needs a terminal" in outcome.err
    assert "localrag --help" in outcome.err
    assert not home.exists()


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        (["tui"], 2, "needs a terminal"),
        (["--home", "elsewhere", "tui"], 2, "needs a terminal"),
        (["--set", "language=ja", "--home=elsewhere", "tui"], 2, "端末が必要"),
        (["--set", "nonsense", "tui"], 2, "--set 'nonsense' is not an assignment"),
        (["--set", "retrieval.kk=5", "tui"], 2, "there is no setting 'retrieval.kk'"),
        (["--lang", "ja", "tui"], 2, "端末が必要"),
        (["--home", "tui"], 0, "Every verb explains itself"),
        (["--colour", "tui"], 2, "There is no option --colour"),
        (["tui", "now"], 2, "unexpected extra argument"),
        (["tui", "--help"], 0, "F1 shows the keys"),
    ],
)
def test_the_short_way_in_is_told_from_other_lines(shell, home, line, code, told):
    outcome = shell(*line)
    assert outcome.code == code
    assert told in outcome.out + outcome.err
    assert not home.exists()
