"""A law with definitions, chapters, a supplementary provision and tables, made by the tests."""

LAW = "598AC0000000007"


def provision(number: int, text: str) -> str:
    return (
        f'<Article Num="{number}"><ArticleTitle>第{"〇一二三四五"[number]}条</ArticleTitle>'
        f'<Paragraph Num="1"><ParagraphNum/><ParagraphSentence><Sentence>{text}</Sentence>'
        "</ParagraphSentence></Paragraph></Article>"
    )


XML = f"""<?xml version="1.0" encoding="UTF-8"?>
<Law Era="Reiwa" Year="98" Num="7" LawType="Act" Lang="ja"><LawNum>令和九十八年法律第七号</LawNum>
<LawBody><LawTitle>風車組合法</LawTitle><MainProvision>
<Chapter Num="1"><ChapterTitle>第一章　総則</ChapterTitle>
{provision(1, "営む者（以下「風車業者」という。）は、検査（以下この章で「点検」という。）をする。")}
{provision(2, "風車業者は、点検の記録を、公告の方法により示す。")}
</Chapter>
<Chapter Num="2"><ChapterTitle>第二章　組合</ChapterTitle>
{provision(3, "風車業者は、点検（第二条）のため、海底法第五条の組合を作ることができる。")}
{provision(4, "組合は、掲示（以下「公告」という。）をする。")}
</Chapter></MainProvision>
<SupplProvision AmendLawNum="令和九八年五月一日法律第九号">
<SupplProvisionLabel>附　則</SupplProvisionLabel>
{provision(1, "改正前の帳簿（以下「記録」という。）は、なお従前の例による。")}
<SupplProvisionAppdxTable>
<SupplProvisionAppdxTableTitle>別表第一　帳簿</SupplProvisionAppdxTableTitle>
<RelatedArticleNum>（附則第一条関係）</RelatedArticleNum></SupplProvisionAppdxTable>
</SupplProvision>
<AppdxTable Num="1"><AppdxTableTitle>別表第二　羽根（第三条関係）</AppdxTableTitle></AppdxTable>
</LawBody></Law>
"""
