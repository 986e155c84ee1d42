"""A question turned so that it asks for what agrees, whatever it asked for."""

import re

from localrag.methods.polarity import Polarity, polarity_of

# What denies, and what it denies; the longest form first.
_TURNS = {
    r"誤っている|誤った|間違っている|間違った|(?:誤り|間違い)[での]?ある|正しくない": "正しい",
    r"(?:誤り|間違い)(?=[はをが])": "正しいもの",
    r"不適切な|適切で(?:は)?ない": "適切な",
    r"不適当な|適当で(?:は)?ない": "適当な",
    r"ふさわしくない": "ふさわしい",
    r"該当するもので(?:は)?ない": "該当する",
    r"(?<=必要)[のが]ない": "のある",
    r"(?<=義務)[のが]ない": "のある",
    r"で(?:は)?ない": "である",
    r"てい(?:は)?ない": "ている",
    r"でき(?:は)?ない": "できる",
    r"し(?:は)?ない": "する",
    r"(?<=満)たさない": "たす",
    r"さない": "す",
    r"らない": "る",
    r"れない": "れる",
}
_DENIAL = re.compile("|".join(f"(?P<t{number}>{words})" for number, words in enumerate(_TURNS)))
_AFFIRMED = dict(zip((f"t{number}" for number in range(len(_TURNS))), _TURNS.values(), strict=True))


def affirmed(question: str) -> str:
    """The question with its outermost denial turned: 該当しないもの becomes 該当するもの.

    Who is asked about one option can then say whether it is so, and need not keep in mind that
    the opposite is wanted. A question whose denial is not among the known forms stays as it is;
    `polarity_of` tells.
    """
    if polarity_of(question) is Polarity.AGREES:
        return question
    for denial in reversed(list(_DENIAL.finditer(question))):
        assert denial.lastgroup is not None
        affirmation = _AFFIRMED[denial.lastgroup]
        turned = question[: denial.start()] + affirmation + question[denial.end() :]
        if polarity_of(turned) is Polarity.AGREES:
            return turned
    return question
