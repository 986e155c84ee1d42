"""Words so frequent and empty that an index without them answers as well and faster."""

_PARTICLES_AND_AUXILIARIES = """
    ある あっ あり あれ いい いう いっ いる いわ おい おけ おら おり おる から くださ ください
    けれど ここ こと この これ され しか しかし しまう する そう そこ その それ たら たり だけ
    だっ だろう ちゃ つい つつ でし です でも とき ところ とも ない なお なかっ ながら なく なけれ
    なさ なっ など なら なり なる のみ べき ほど まし ます ませ また まで もう もの やっ やら よう
    より よれ られ られる れる 及び 又は 若しくは 並びに 下さい
"""
_QUESTION_WORDS = (
    "いくつ いくら いつ どう どこ どちら どなた どの どれ どんな なぜ なに なん 何 幾つ 誰"
)

JAPANESE = frozenset(_PARTICLES_AND_AUXILIARIES.split() + _QUESTION_WORDS.split())
"""Particles, auxiliaries, pronouns, conjunctions and the words questions are asked with."""

_FUNCTION_WORDS = """
    a an and are as at be been but by did do does for from had has have he her his how i if in into
    is it its no not of on or s she so such t than that the their them then there these they this
    to was we were what when where which who whom whose why will with would you
"""

ENGLISH = frozenset(_FUNCTION_WORDS.split())
"""Articles, pronouns, prepositions, auxiliaries and the words questions are asked with."""
