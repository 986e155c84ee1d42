"""What a question asks with."""

from localrag.search.question.asked import Interrogative, interrogative_of

from ....rows import each


@each(
    ("question", "word"),
    [
        ("Who founded the mill?", Interrogative.WHO),
        ("In what year did the mill burn down?", Interrogative.WHEN),
        ("What did Ada, who founded the mill, write?", Interrogative.WHAT),
        ("How many wheels does the mill have?", Interrogative.HOW_MANY),
        ("How did the mill burn down?", Interrogative.HOW),
        ("Which river drives the mill?", Interrogative.WHICH),
        ("The mill stands where?", Interrogative.WHERE),
        ("Why was it closed?", Interrogative.WHY),
        ("Was it closed?", Interrogative.NONE),
        ("誰が風車を建てたか。", Interrogative.WHO),
        ("風車が焼けたのは何年か。", Interrogative.WHEN),
        ("風車には羽根が何枚あるか。", Interrogative.HOW_MANY),
        ("どのくらいの高さか。", Interrogative.HOW_MANY),
        ("風車はどのように焼けたか。", Interrogative.HOW),
        ("どの川のほとりにあるか。", Interrogative.WHICH),
        ("どこにあるか。", Interrogative.WHERE),
        ("なぜ閉じたのか。", Interrogative.WHY),
        ("風車は何を動かすか。", Interrogative.WHAT),
        ("", Interrogative.NONE),
    ],
)
def test_the_word_is_told(question: str, word: Interrogative) -> None:
    assert interrogative_of(question) is word
