from localrag.search.question.asked import names_in

from ....rows import each


@each(
    ("question", "names"),
    [
        ("ラントリック塔の高さはいくらか", ("ラントリック",)),
        ("「渡し守」とはどういう者ですか。", ("渡し守",)),
        ("横浜の港を開いたのは誰か", ("横浜",)),
        ("ＵＮＥＳＣＯはいつ設立されたか", ("unesco",)),
        ("Who built the Lanrick Tower in Selby?", ("lanrick", "tower", "selby")),
        ("When was Lanrick's “blue lens” sold?", ("lanrick", "blue lens")),
        ("誇大広告は禁止されているか", ()),
        ("what is a tower", ()),
        ("。。。", ()),
    ],
)
def test_names_are_known_by_spelling_and_dictionary(question: str, names: tuple[str, ...]) -> None:
    assert names_in(question) == names


def test_a_name_counts_once() -> None:
    assert names_in("セルビアの王はセルビアのどこにいたか") == ("セルビア",)
