"""Whether a four-choice question asks for the option agreeing with the law, or the other one.

A Japanese question decides at its end. The verdict (正しい, 誤っている) comes before the noun.
Negations further inside describe the law (適用されない有価証券として、正しいもの).

Two kinds of question contain a negation and still ask for the agreeing option. One asks how many
statements are wrong, or which together (誤っているものはいくつあるか, 誤っているものの組合せ; but
not 誤っている組合せ). The other asks for an exemption, as a provision gives one
(届出を要しないもの, 責任を負わない者, 検査を受けなくてもよい者).
"""

import re
from enum import StrEnum

from localrag_indexes.analysis.normalize import normalize


class Polarity(StrEnum):
    """Whether the wanted option agrees with the law."""

    AGREES = "agrees"
    DEVIATES = "deviates"


# The end of a question: を1つ教えてください, はどれか.
_REQUEST = re.compile(
    r"[をはが]?[、,]?"
    r"(?:(?:[0-9一二三四ひとふた]+つ(?:だけ|のみ)?|すべて|全て|次の(?:うち|中から)|以下(?:のうち|から))[、,]?){0,3}"
    r"(?:教え|選[びべん]|選択|答え|挙げ|示し|お答え|指摘"
    r"|どれ|どちら|いずれ|何[かで]|なに|どの|あるか|。|$)"
)
# Characters before it that are read.
_DECIDES = 60
# The noun asked for: もの, 記述, 条文 …; at most の or は follows.
_NOUN = (
    r"(?:もの|者|物|こと|記述|説明|選択肢|肢|組み?合わ?せ|事項|条文|条項|規定|根拠|内容|行為|場合|"
    r"書類|業務|取引|方法|期間|文章|文|例|要件|措置|義務|権利|語句|数値)?"
)
_PARTICLES = r"[のはをが、,]*$"
_END = rf"{_NOUN}(?:の(?:番号|記号))?{_PARTICLES}"
# Questions about several statements at once: which together, how many.
_TOGETHER = re.compile(
    r"(?:組み?合わ?せ|(?:の|した)(?:総|個|件|人)?数|(?:いくつ|幾つ|何[個つ件人])[ぁ-ん]{0,6}"
    rf"|(?:挙げ|掲げ|選ん|並べ|集め|組み?合わせ)[ただ]もの){_PARTICLES}"
)
_VERDICTS = (
    (
        Polarity.DEVIATES,
        r"(?:誤っている|誤った|間違っている|間違った|(?:誤り|間違い)(?:で?ある|[のが]ある|を含む)?|"
        r"(?:正し|ふさわし)くない|(?:正確|適切|適当|妥当)では?ない|不(?:正確|適切|適当)な|"
        r"(?:正しい|適切)とは?[言い]えない)",
    ),
    (
        Polarity.AGREES,
        r"(?:(?:誤|間違)っていない|(?:誤り|間違い)(?:では|で|の)ない|"
        r"正しい|(?:正確|適切|適当|妥当)な|ふさわしい)",
    ),
    # The source itself makes this negation.
    (Polarity.AGREES, r"ない(?:もの)?と(?:されて|定められて|規定されて|記載されて|みなされて)いる"),
    # A duty or a prohibition is in the law.
    (Polarity.AGREES, r"(?:なければ|なくては|ては|ねば)(?:なら|いけ)?ない"),
    (
        Polarity.DEVIATES,
        r"(?:該当(?:し|するもので)|[当あ]たら|[当あ]てはまら|含まれ?|属[さし]|反し|満たさ|"
        r"(?:違反|抵触|適合|相当|合致)し|対象(?:とは?なら|で)|必要(?:[のが]|とは?され(?:てい)?|とし)|"
        r"義務[のが]|(?:記載|規定|列挙|明記|掲載)(?:がされてい|されてい|され|が)|"
        r"(?:定め|掲げ|挙げ|認め|求め)られ(?:てい)?)は?ない",
    ),
    # 場合 after できない is in laws; these nouns are not.
    (Polarity.DEVIATES, r"できない(?=(?:もの|こと|者|行為|事項|業務|取引)[のはをが]*$)"),
)
_READINGS = (
    *((polarity, re.compile(words + _END)) for polarity, words in _VERDICTS),
    (Polarity.AGREES, _TOGETHER),
)


def polarity_of(question: str) -> Polarity:
    """Whether the question asks for the option agreeing with the law, as by default."""
    compact = re.sub(r"[^\S\n]", "", normalize(question))
    for request in reversed(list(_REQUEST.finditer(compact))):
        asked = compact[max(request.start() - _DECIDES, 0) : request.start()]
        for polarity, words in _READINGS:
            if words.search(asked):
                return polarity
    return Polarity.AGREES


# Denials and their affirmations, the longest form first.
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

    It can then be asked about one option, without the opposite in mind. Unknown forms of denial
    stay; `polarity_of` shows them.
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
