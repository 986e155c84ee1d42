"""Search follows the corpus that is in use."""

from collections.abc import Callable
from typing import Any

import pytest

from localrag_tui.app import Workbench

pytestmark = pytest.mark.anyio


async def test_an_error_goes_when_a_good_corpus_is_chosen_again(
    workbench: Callable[..., Workbench], until: Any, shown: Any
) -> None:
    app = workbench(mode="search", search="渡し舟")
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: "第八条" in shown(app))
        for corpus, expected in (("none", "There is no corpus 'none'."), ("main", "第八条")):
            await pilot.press("f5")
            app.memory.remember(corpus=corpus)
            await pilot.press("f4")
            await until(pilot, lambda expected=expected: expected in shown(app))
        await until(pilot, lambda: "There is no corpus 'none'." not in shown(app))
