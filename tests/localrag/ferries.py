"""A law in two states, made by the tests: the act on ferries before and after an amendment."""

from collections.abc import Sequence

from localrag_indexes.analysis.normalize import to_kanji

FERRIES = "599AC0000000001"
Article = tuple[str, str, Sequence[str]]
"""Number, caption and paragraphs."""

BEFORE: list[Article] = [
    ("1", "目的", ["この法律は、渡し舟の安全を図ることを目的とする。"]),
    (
        "2",
        "定義",
        ["この法律において「渡し舟」とは、川を渡る舟をいう。", "渡し守とは、舟を操る者をいう。"],
    ),
    ("3", "登録", ["渡し舟を出そうとする者は、市町村長の登録を受けなければならない。"]),
    ("4", "欠格", ["渡し守は、二十歳に達しない者であつてはならない。"]),
    ("5", "報告", ["渡し守は、毎月、運んだ人の数を市町村長に報告しなければならない。"]),
    ("6", "廃業", ["渡し舟をやめた者は、三十日以内にその旨を市町村長に届け出なければならない。"]),
]
AFTER: list[Article] = [
    ("1", "目的", ["この法律は、渡し舟の安全を図ることを目的とする。"]),
    (
        "2",
        "定義",
        [
            "この法律において「渡し舟」とは、川又は湖を渡る舟をいう。",
            "渡し守とは、舟を操る者をいう。",
        ],
    ),
    ("3", "登録", ["渡し舟を出そうとする者は、市町村長の登録を受けなければならない。"]),
    ("3_2", "灯火", ["渡し舟は、夜間、灯火を掲げなければならない。"]),
    ("4", "欠格", ["渡し守は、十八歳に達しない者であつてはならない。"]),
    ("5", "", ["削除"]),
    ("7", "廃業", ["渡し舟をやめた者は、三十日以内にその旨を市町村長に届け出なければならない。"]),
]


def law_xml(articles: Sequence[Article]) -> str:
    def number(num: str) -> str:
        main, _, branch = num.partition("_")
        return f"第{to_kanji(int(main))}条" + (f"の{to_kanji(int(branch))}" if branch else "")

    body = "".join(
        f'<Article Num="{num}">'
        + (f"<ArticleCaption>（{caption}）</ArticleCaption>" if caption else "")
        + f"<ArticleTitle>{number(num)}</ArticleTitle>"
        + "".join(
            f'<Paragraph Num="{n}"><ParagraphNum>{"" if n == 1 else n}</ParagraphNum>'
            f"<ParagraphSentence><Sentence>{text}</Sentence></ParagraphSentence></Paragraph>"
            for n, text in enumerate(paragraphs, 1)
        )
        + "</Article>"
        for num, caption, paragraphs in articles
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?><Law Era="Reiwa" Lang="ja" LawType="Act" Num="1"'
        ' Year="99"><LawNum>令和九十九年法律第一号</LawNum><LawBody><LawTitle>渡し舟法</LawTitle>'
        f"<MainProvision>{body}</MainProvision></LawBody></Law>"
    )
