"""Questions about the sample corpus, and a model whose best instruction is known.

- `questions`: a file of sixteen questions, two for each of eight articles.
- `toy`: stands in the place of every chat model, and knows what finds the article of each number;
  the question's own words do not find it. Each question needs a piece of advice (甲, 乙, 丙
  or 丁) in the instruction: only then the model writes what finds its article. As reflection model
  it adds one piece that the examples lack. The best instruction holds all four.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_models.scripted import ScriptedChat

from localrag.corpus.config import ChatConfig, Config
from localrag.evaluation.optimize.types import OptimisationPlan
from localrag_models.chat import ChatRequest, Finish, Reply, ignore, never, overlook

ACT = "599AC0000000001"
ORDER = "599CO0000000002"
# Article, what finds it, the beginning of what it says.
_TOPICS = (
    (ACT, "7", "渡し守として乗り組ませる資格", "渡し守として渡し舟に乗り組ませてはならない。"),
    (ACT, "10", "重大事故の報告", "渡し舟の運航により事故が生じたとき"),
    (ACT, "12", "費用の補助 三分の一", "市町村に対し、渡し場活用計画に基づく事業に要する費用"),
    (ACT, "15", "登録の手数料 実費", "実費を勘案して政令で定める額の手数料"),
    (ACT, "6_2", "地位の承継 相続人", "相続人は、渡し舟事業者の地位を承継する"),
    (ORDER, "2", "祭礼 水神を祭る行事", "水神を祭る行事であって、その期間が三日以内のもの"),
    (
        ORDER,
        "4",
        "運航の制限の基準 水位 風速",
        "次の各号に掲げる事項の区分に応じ、当該各号に定める",
    ),
    (ORDER, "5", "重大な事故 死亡 行方不明", "人が死亡し、又は行方不明となったもの"),
)
ADVICE = "甲乙丙丁"
# Of the questions; no provision has such a word.
_NAMES, _ABOUT = "ABCDEFGHIJKLMNOP", "アルファベットクイズゲーム"


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """The file of questions."""
    path = tmp_path / "questions.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(16):
            law, article, _, says = _TOPICS[number % 8]
            title = "渡し舟の安全及び活用に関する法律" + ("施行令" if law == ORDER else "")
            row = {
                "id": f"q{number:02}",
                "question": f"{ADVICE[number % 4]}「{_NAMES[number % 8]}」{_ABOUT}{_NAMES[number]}",
                "options": ["一番目の選択肢", "二番目の選択肢"],
                "answer": "a",
                "context": f"## {title}\n### 第{article.replace('_', '条の')}条\n{says}",
                "gold": [{"law_id": law, "article": article}],
            }
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return path


class Toy(ScriptedChat):
    """Follows its instruction to the letter, so that its best one is known."""

    id = "toy"

    def __init__(self, reflect: Callable[[dict[str, Any]], str]) -> None:
        super().__init__(context=100_000)
        self._reflect = reflect

    def chat(
        self,
        request: ChatRequest,
        on_text: Callable[[str], None] = ignore,
        cancelled: Callable[[], bool] = never,
        on_read: Callable[[int, int], None] = overlook,
    ) -> Reply:
        """Write a query, or propose an instruction."""
        assert request.schema is not None
        system, user = (message.content for message in request.messages)
        if "searches" in request.schema["properties"]:
            piece = next(piece for piece in ADVICE if f"{piece}「" in user)
            query = (
                _TOPICS[_NAMES.index(user.partition("「")[2][0])][2]
                if piece in system
                else "天文台"
            )
            reply = json.dumps({"searches": [{"law": "", "words": query}]}, ensure_ascii=False)
        else:
            reply = self._reflect(json.loads(user[: user.rindex("}") + 1]))
        self.requests.append(request)
        return self._reply(request, reply, Finish.STOP)


def add_what_lacks(material: dict[str, Any]) -> str:
    """Propose the instruction with one piece of advice more."""
    lacking = [
        piece
        for example in material["examples"]
        for piece in ADVICE
        if f"{piece}「" in example["question"] and piece not in material["instruction"]
    ]
    added = f"{material['instruction']}\n{lacking[0]}を行う。" if lacking else "工夫がない。"
    return json.dumps({"analysis": "", "instruction": added}, ensure_ascii=False)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Toy]:
    """Makes a toy the chat model: ``toy()``, or with another way to reflect."""

    def make(reflect: Callable[[dict[str, Any]], str] = add_what_lacks) -> Toy:
        model = Toy(reflect)
        monkeypatch.setattr("localrag.methods.answering.open_chat", lambda *_: model)
        return model

    return make


@pytest.fixture
def config() -> Config:
    """The settings: a model behind a server, of which nothing has to be installed."""
    return Config(chat=ChatConfig(model="ollama:toy"))


@pytest.fixture
def plan(questions: Path) -> OptimisationPlan:
    """Enough calls to find all four pieces of advice."""
    return OptimisationPlan(name="toy", dataset=str(questions), calls=160)
