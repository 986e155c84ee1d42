"""Going to a provision by its name, from anywhere."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag_tui.app import Workbench
from localrag_tui.jump import Finder, JumpDialogue, PlacesFound
from localrag_tui.source.pane import SourcePane

ACT = "599AC0000000001"
Until = Callable[..., Any]


async def _type(pilot: Pilot[None], text: str) -> None:
    """Put a text into the field at once, as a paste does."""
    pilot.app.screen.query_one(Input).value = text


async def _opened(pilot: Pilot[None], until: Until) -> None:
    """Wait for the dialogue with its field."""
    await until(pilot, lambda: isinstance(pilot.app.screen, JumpDialogue))
    await until(pilot, lambda: pilot.app.screen.query_one(Input).has_focus)


async def _ask_for(pilot: Pilot[None], until: Until, place: str, *, key: str = "ctrl+g") -> None:
    """Open the dialogue with its key, and put a place into it."""
    await pilot.press(key)
    await _opened(pilot, until)
    await _type(pilot, place)


def _reading(app: Workbench) -> str:
    """The passage that is read on the screen in view."""
    spots = [pane.spot for pane in app.screen.query(SourcePane) if pane.spot]
    return spots[0].passage_id if spots else ""


async def test_a_citation_is_found_while_it_is_typed_and_enter_goes_there(
    workbench: Any, shown: Any, until: Until
) -> None:
    app = workbench(mode="runs")
    async with app.run_test(size=(80, 24)) as pilot:
        await _ask_for(pilot, until, "渡し舟")
        await until(pilot, lambda: "渡し舟法施行令" in shown(app))
        await _type(pilot, "渡し舟法8条")
        await until(pilot, lambda: "水位又は風速" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: _reading(app) == f"{ACT}#8")
        assert app.memory.choices.mode == "read"
        await until(pilot, lambda: "第八条（運航の制限）" in shown(app))
        # From then on a place without a law is of that one.
        await _ask_for(pilot, until, "17条", key="g")
        await pilot.press("enter")
        await until(pilot, lambda: _reading(app) == f"{ACT}#17")


async def test_what_can_mean_several_is_listed_and_one_is_chosen(
    workbench: Any, shown: Any, until: Until
) -> None:
    app = workbench(mode="runs")
    async with app.run_test(size=(80, 24)) as pilot:
        await _ask_for(pilot, until, "渡し舟法附則1条")
        await pilot.press("enter")
        await until(pilot, lambda: shown(app).count("第一条（施行期日）") > 1)
        assert isinstance(app.screen, JumpDialogue)
        # An Enter that comes after the list takes none of them either.
        await pilot.press("enter", "down", "down", "enter")
        await until(pilot, lambda: _reading(app) == f"{ACT}#suppl2/1")


async def test_what_is_missing_says_what_there_is_and_opens_nothing_unasked(
    workbench: Any, shown: Any, until: Until
) -> None:
    app = workbench(mode="runs")
    async with app.run_test(size=(80, 24)) as pilot:
        await _ask_for(pilot, until, "渡し舟法18条")
        await until(pilot, lambda: "is not in the text in force from" in shown(app))
        await until(pilot, lambda: "第十七条（過料）" in shown(app))
        await pilot.press("enter")
        assert isinstance(app.screen, JumpDialogue)
        await _type(pilot, "[red]\x1b[2J]")
        await until(pilot, lambda: "Nothing is called so." in shown(app))
        await _type(pilot, "渡し舟" * 20_000)
        await until(pilot, lambda: "Nothing is called so." in shown(app))
        await pilot.press("escape")
        assert app.memory.choices.mode == "runs"


async def test_the_newest_text_wins(
    workbench: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = workbench(mode="runs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+g")
        await until(pilot, lambda: isinstance(app.screen, JumpDialogue))
        read, gate = app.library.read_names, asyncio.Event()

        async def slow_at_first(look: Any) -> Any:
            monkeypatch.setattr(app.library, "read_names", read)
            found = await read(look)
            await gate.wait()
            return found

        monkeypatch.setattr(app.library, "read_names", slow_at_first)
        await _type(pilot, "渡し舟法8条")
        await pilot.pause()
        await _type(pilot, "quillmere")
        offers = app.screen.query_one(OptionList)
        await until(pilot, lambda: offers.option_count == 1)
        gate.set()
        await pilot.pause()
        assert "Quillmere" in str(offers.get_option_at_index(0).prompt)
        # What is told of an offer that is gone by then does no harm.
        await _type(pilot, "渡し舟")
        await until(pilot, lambda: offers.option_count > 1)
        offers.highlighted = offers.option_count - 1
        app.screen.query_one(Finder)._show(PlacesFound(), "x")
        await pilot.pause()
        assert isinstance(app.screen, JumpDialogue)


async def test_titles_are_text(
    workbench: Any, shown: Any, until: Until, bench_home: Path, mark: Callable[..., None]
) -> None:
    mark("[red]凧[/]\x1b[2J\u202e法")
    app = workbench(mode="runs")
    async with app.run_test(size=(80, 24)) as pilot:
        await _ask_for(pilot, until, "凧")
        await until(pilot, lambda: "[red]凧[/]␛[2J<U+202E>法" in shown(app))


async def test_without_a_corpus_it_says_what_to_do(
    workbench: Any, shown: Any, until: Until
) -> None:
    app = workbench(mode="runs", corpus="none")
    async with app.run_test(size=(80, 24)) as pilot:
        await _ask_for(pilot, until, "8条")
        await until(pilot, lambda: "There is no corpus 'none'." in shown(app))
        await until(pilot, lambda: "There is: main." in shown(app))


def _article(number: str, printed: str, *paragraphs: str) -> str:
    written = "".join(
        f'<Paragraph Num="{n}"><ParagraphNum>{"" if n == 1 else "２"}</ParagraphNum>'
        f"<ParagraphSentence><Sentence>{text}</Sentence></ParagraphSentence></Paragraph>"
        for n, text in enumerate(paragraphs, 1)
    )
    return f'<Article Num="{number}"><ArticleTitle>{printed}</ArticleTitle>{written}</Article>'


LAW = f"""<?xml version="1.0" encoding="UTF-8"?>
<Law Era="Showa" Year="23" Num="25" LawType="Act" Lang="ja">
<LawNum>昭和二十三年法律第二十五号</LawNum>
<LawBody><LawTitle>金融商品取引法</LawTitle><MainProvision>
{_article("27_35", "第二十七条の三十五", "台帳には、第二十八条の事項を記す。")}
{
    _article(
        "27_36",
        "第二十七条の三十六",
        "凧の揚げ手は、第二十七条の三十五の台帳を備える。",
        "前項の台帳は、五年の間保つ。",
    )
}
{_article("28", "第二十八条", "凧の色は、第二十七条の三十六第一項の揚げ手が選ぶ。")}
</MainProvision></LawBody></Law>
"""


KITES = f"""<?xml version="1.0" encoding="UTF-8"?>
<Law Era="Showa" Year="22" Num="949" LawType="Act" Lang="ja">
<LawNum>昭和二十二年法律第九百四十九号</LawNum>
<LawBody><LawTitle>凧揚げ基準法</LawTitle><MainProvision>
{_article("120", "第百二十条", "凧の糸は、麻とする。")}
{_article("121", "第百二十一条", "凧の尾は、紙とする。")}
</MainProvision>
<SupplProvision><SupplProvisionLabel>附　則</SupplProvisionLabel>
{_article("143", "第百四十三条", "糸の長さは、当分の間、三十尺とする。")}
</SupplProvision></LawBody></Law>
"""


async def test_an_article_that_only_a_supplementary_provision_has_is_offered_first(
    workbench: Any, shown: Any, until: Until, tmp_path: Path, home: Path, cli: Any
) -> None:
    law = tmp_path / "322AC0000000949_20260401.xml"
    law.write_text(KITES, encoding="utf-8")
    for command in (["init"], ["add", str(law)], ["index"]):
        assert cli(*command).code == 0
    app = workbench("ja", home=home, mode="runs")
    async with app.run_test(size=(80, 24)) as pilot:
        await _ask_for(pilot, until, "凧揚げ基準法143条")
        await until(pilot, lambda: "本則にはなく、附則" in "".join(shown(app).split()))
        offers = app.screen.query_one(OptionList)
        titles = [str(option.prompt).split("  ")[0] for option in offers.options]
        assert titles == ["附則 第百四十三条", "第百二十一条"]
        # It is another provision than the one that was named: nobody is led there unasked.
        await pilot.press("enter")
        assert isinstance(app.screen, JumpDialogue)
        await pilot.press("down", "enter")
        await until(pilot, lambda: _reading(app) == "322AC0000000949#suppl1/143")
    answer = cli("--lang", "ja", "ask", "凧揚げ基準法143条はどのような規定ですか")
    assert "本則にはなく、附則にあります" in answer.out + answer.err
    assert "三十尺" in answer.out
    missing = cli("--lang", "ja", "show", "凧揚げ基準法143条")
    assert "凧揚げ基準法 附則 第百四十三条 (322AC0000000949#suppl1/143)、" in missing.err


async def test_references_are_followed_from_a_provision_that_was_named_and_back(
    workbench: Any, shown: Any, until: Until, tmp_path: Path, home: Path, cli: Any
) -> None:
    law = tmp_path / "323AC0000000025_20260401.xml"
    law.write_text(LAW, encoding="utf-8")
    for command in (["init"], ["add", str(law)], ["index"]):
        assert cli(*command).code == 0
    app = workbench(home=home, mode="runs")
    async with app.run_test(size=(80, 24)) as pilot:

        async def jump(place: str, passage: str) -> None:
            await _ask_for(pilot, until, place, key="g")
            await pilot.press("enter")
            await until(pilot, lambda: _reading(app) == f"323AC0000000025#{passage}")

        await jump("金商法27条の36", "27_36")
        await until(pilot, lambda: "第二十七条の三十六" in shown(app).split("\n")[2])
        await jump("金商法27条の36第1項", "27_36.1")
        pane = app.screen.query_one(SourcePane)
        been = []
        for there in ("27_35", "28", "27_36.1"):
            await until(pilot, lambda: pane.provision is not None and pane.page.links)
            been.append(_reading(app))
            begin = pane.spot.start
            while pane.page.chosen is None or pane.page.links[pane.page.chosen][0] < begin:
                await pilot.press("right")
            await pilot.press("enter")
            await until(pilot, lambda there=there: _reading(app) == f"323AC0000000025#{there}")
        for there in reversed(been):
            await pilot.press("backspace")
            await until(pilot, lambda there=there: _reading(app) == there)


def _typed(until: Until, text: str) -> Callable[[Pilot[None]], Any]:
    async def prepare(pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+g")
        await _opened(pilot, until)
        await _type(pilot, text)
        offers = pilot.app.screen.query_one(OptionList)
        await until(pilot, lambda: offers.option_count)

    return prepare


async def test_look(workbench: Any, snapshots: Any, until: Until) -> None:
    prepare = _typed(until, "渡し舟法附則1条")
    await snapshots(lambda language: workbench(language, mode="read"), prepare)


async def test_look_of_what_is_missing(workbench: Any, snapshots: Any, until: Until) -> None:
    prepare = _typed(until, "渡し舟法18条")
    await snapshots(lambda language: workbench(language, mode="read"), prepare)


@pytest.fixture
def mark(bench_home: Path) -> Callable[[str], None]:
    """Gives a document of the corpus another title."""

    def change(title: str) -> None:
        with CorpusStore.open(Workspace.locate(bench_home).corpus("main").store) as store:
            store._db.write("UPDATE documents SET title = ? WHERE id = '白鷺県'", (title,))

    return change
