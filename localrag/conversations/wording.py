"""What an exported conversation says in its own words, in Japanese and English."""

from dataclasses import dataclass

from localrag.conversations.model import TurnState
from localrag.reading.model import Stage, Status


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of one language.

    Attributes:
        default_method, no_model: what answered where neither is named.
        statuses: by status, what it means.
        ends: of questions without an answer, by state.
        stages: what a step of a derivation was taken from.
        problems: why a quotation was rejected, by what the verifier says.
    """

    untitled: str
    question: str
    read_as: str
    citations: str
    derivation: str
    draft: str
    empty: str
    rejected: str
    unreadable: str
    nothing_found: str
    default_method: str
    no_model: str
    seconds: str
    statuses: dict[Status, str]
    ends: dict[TurnState, str]
    stages: dict[Stage, str]
    problems: dict[str, str]


WORDINGS = {
    "en": Wording(
        untitled="Conversation",
        question="Question {n}",
        read_as="Read as: {question}",
        citations="Citations",
        derivation="Derivation",
        draft="Written until then, and not checked:",
        empty="No question has been asked.",
        rejected="rejected",
        unreadable="The answer cannot be read.",
        nothing_found="not found",
        default_method="default reader",
        no_model="no model",
        seconds="{n:.1f} s",
        statuses={
            Status.SUPPORTED: "Supported: what it claims was checked against the sentences cited.",
            Status.QUOTED: "Quoted: what comes nearest, word for word; it may not be the answer.",
            Status.UNSUPPORTED: "Unsupported: what it cites does not say all of it.",
            Status.NOT_FOUND: "Not found: nothing in this corpus supports an answer.",
        },
        ends={
            TurnState.ANSWERING: "Unfinished: it is being answered.",
            TurnState.CANCELLED: "Cancelled by the user.",
            TurnState.FAILED: "Failed.",
            TurnState.INTERRUPTED: "Interrupted: the application ended during the answer.",
        },
        stages={
            Stage.KNOWLEDGE: "triples",
            Stage.DOCUMENTS: "documents",
            Stage.MODEL: "the model alone",
        },
        problems={},
    ),
    "ja": Wording(
        untitled="会話",
        question="質問 {n}",
        read_as="質問の読み方：{question}",
        citations="引用",
        derivation="導出",
        draft="それまでに書かれた未確認の内容：",
        empty="まだ質問がありません。",
        rejected="却下",
        unreadable="回答を読み出せません。",
        nothing_found="該当なし",
        default_method="標準の読み取り",
        no_model="モデルなし",
        seconds="{n:.1f} 秒",
        statuses={
            Status.SUPPORTED: "裏付けあり：主張の内容を引用した文と照合しました。",
            Status.QUOTED: "引用のみ：最も近い箇所の原文です。答えであるとは限りません。",
            Status.UNSUPPORTED: "裏付けなし：引用した文にない内容が含まれています。",
            Status.NOT_FOUND: "該当なし：このコーパスには回答を裏付けるものがありません。",
        },
        ends={
            TurnState.ANSWERING: "未完了：回答を作成中です。",
            TurnState.CANCELLED: "利用者が取り消しました。",
            TurnState.FAILED: "エラーで終わりました。",
            TurnState.INTERRUPTED: "中断：回答の途中でアプリケーションが終了しました。",
        },
        stages={
            Stage.KNOWLEDGE: "トリプル",
            Stage.DOCUMENTS: "文書",
            Stage.MODEL: "モデルのみ",
        },
        problems={
            "the quote is empty": "引用文が空です",
            "the passage does not hold the quote": "出典に引用文がありません",
        },
    ),
}
"""By the code of the language."""
