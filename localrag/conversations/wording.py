"""What an exported conversation says in its own words, in Japanese and English."""

from dataclasses import dataclass

from localrag.conversations.model import TurnState
from localrag.reading.types import Stage, Status


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of one language.

    Attributes:
        default_method, no_model: what answered where neither is named.
        absent: before the laws that the question names and the corpus lacks.
        statuses: by status, what it means.
        mismatches: what is wrong with a claim, by kind of mismatch.
        moved: that code cites other sentences for a claim than the model did.
        state: of a law, the day whose wording is quoted.
        beside: of a quotation, that the question does not name its law.
        ends: of questions without an answer, by state.
        stages: what a step of a derivation was taken from.
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
    absent: str
    moved: str
    state: str
    beside: str
    statuses: dict[Status, str]
    mismatches: dict[str, str]
    ends: dict[TurnState, str]
    stages: dict[Stage, str]


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
        absent="Not in this corpus:",
        moved="code cites these sentences: those of the model do not say it",
        state="as of {date}",
        beside="of a law that the question does not name",
        statuses={
            Status.SUPPORTED: "Supported: what it claims was checked against the sentences cited.",
            Status.QUOTED: "Quoted: this comes nearest, word for word; it may not be the answer.",
            Status.UNSUPPORTED: "Unsupported: what it cites does not say all of it.",
            Status.NOT_FOUND: "Not found: nothing in this corpus supports an answer.",
        },
        mismatches={
            "figure": "this figure is not in what it cites",
            "date": "this date is not in what it cites",
            "period": "this period is not in what it cites",
            "share": "this share is not in what it cites",
            "amount": "this amount is not in what it cites",
            "provision": "this provision is not in what it cites",
            "name": "this name is not in what it cites",
            "counterpart": "what it cites says another word of the same kind",
            "role": "in what it cites this is whom it is done to",
            "negation": "its negation is not that of what it cites",
            "exception": "its exception is not that of what it cites",
            "bound": "its bound is not that of what it cites",
            "modality": "its may or must is not that of what it cites",
            "words": "what it cites speaks of other things",
            "subject": "it does not speak of what was asked about",
            "answer": "it is not the kind of answer that was asked for",
            "reading": "reading it again, the model does not find it in what it cites",
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
        absent="このコーパスにない法令：",
        moved="モデルの引用を、主張のとおりの文にプログラムが替えました",
        state="{date} 時点",
        beside="質問にない法令",
        statuses={
            Status.SUPPORTED: "裏付けあり：主張の内容を引用した文と照合しました。",
            Status.QUOTED: "引用のみ：最も近い箇所の原文です。答えであるとは限りません。",
            Status.UNSUPPORTED: "裏付けなし：引用した文にない内容が含まれています。",
            Status.NOT_FOUND: "該当なし：このコーパスには回答を裏付けるものがありません。",
        },
        mismatches={
            "figure": "この数が引用した文にありません",
            "date": "この日付が引用した文にありません",
            "period": "この期間が引用した文にありません",
            "share": "この割合が引用した文にありません",
            "amount": "この金額が引用した文にありません",
            "provision": "この条文が引用した文にありません",
            "name": "この名前が引用した文にありません",
            "counterpart": "引用した文にあるのは対になる別の語です",
            "role": "引用した文では、だれがだれにするかが逆です",
            "negation": "肯定か否定かが引用した文と違います",
            "exception": "例外が引用した文と違います",
            "bound": "範囲の境（以上、超えるなど）が引用した文と違います",
            "modality": "できるのか、しなければならないのかが引用した文と違います",
            "words": "引用した文はほかのことを述べています",
            "subject": "尋ねられたものについて述べていません",
            "answer": "尋ねられた種類の答えではありません",
            "reading": "モデルが読み直したところ、引用した文からは言えません",
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
    ),
}
"""By the code of the language."""
