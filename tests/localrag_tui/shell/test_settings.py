"""Settings that change, and break, while the application runs."""

from localrag.corpus.config import load


async def test_a_broken_file_is_told_once_and_ends_nothing(plain, shown, until, monkeypatch):
    app = plain(overrides={"tui.theme": None, "language": None}, mode="models")
    file = app.workspace.settings
    good = file.read_text(encoding="utf-8") if file.exists() else ""
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await until(pilot, lambda: app.current_mode == "models")
        before, corpus = app.config(), app.corpus
        told = []
        monkeypatch.setattr(
            app.settings, "_tell", lambda error: (told.append(error), app.tell(error))
        )
        file.write_text("[method\nname = 1", encoding="utf-8")
        for _ in range(3):
            assert app.config() == before
            assert app.corpus == corpus
            assert app.library_of(corpus)
        assert len(told) == 1
        await until(pilot, lambda: "Mend the line" in shown(app))
        app.memory.remember(method="other", model="one")
        assert (app.config().method.name, app.config().chat.model) == ("other", "one")
        file.write_text(good + "\n[chat]\nmax_tokens = 77\n" if "[chat]" not in good else good)
        monkeypatch.setattr("localrag_tui.library.load", lambda *given: load(*given))
        app.settings.of()
        monkeypatch.setattr("localrag_tui.library.load", None)
        assert app.settings.of()
