"""The verb that opens the workbench; the workbench itself is tested in tests/localrag_tui."""


def test_without_a_terminal_it_says_so_and_touches_nothing(cli, home):
    outcome = cli("tui")
    assert outcome.code == 2
    assert "needs a terminal" in outcome.err
    assert "localrag --help" in outcome.err
    assert not home.exists()
