"""Which law an XML of e-Gov holds: its id, the day of its text, the amending law, its promulgation.

The file name says it, else the answer of e-Gov's API around the law, else the law's own number.
"""

import re
from datetime import date
from typing import NamedTuple

from lxml import etree

from localrag.corpus.readers.text import stem
from localrag.corpus.states import enacted
from localrag.errors import InputError
from localrag.language import N_
from localrag_indexes.analysis.normalize import common_year, parse_numeral, parse_year

_LAW_ID = r"\d{3}(?:CONSTITUTION|[A-Z]{1,4}\d{8,11})"
_FILE_NAME = re.compile(rf"({_LAW_ID})(?:_(\d{{4}})(\d{{2}})(\d{{2}}))?(?:_(\w+))?")
# What e-Gov's file names have in the place of an amending law where there is none.
_NO_AMENDMENT = re.compile("0*")
_ERAS = {"Meiji": "明治", "Taisho": "大正", "Showa": "昭和", "Heisei": "平成", "Reiwa": "令和"}
"""In the order of their digits in law ids, which begin with 1."""
_GREGORIAN = 1873
"""The year in which Japan took over the Gregorian calendar."""
# Kinds whose ids follow from era, year and number. Acts do not (the id tells who introduced the
# bill), nor do ordinances (it tells the ministries).
_COMPUTABLE = {"CabinetOrder": "CO", "ImperialOrder": "IO"}

_NUMERAL = "〇一二三四五六七八九十百千0-9０-９"
# 昭和二十三年厚生省令第四十七号; 昭和二十一年憲法 and 昭和二十四年人事院規則一―一 have no 第…号.
_LAW_NUMBER = re.compile(
    rf"(明治|大正|昭和|平成|令和)(元|[{_NUMERAL}]{{1,4}})年(.{{1,60}}?)(?:第([{_NUMERAL}]{{1,7}})号)?"
)
_KINDS_OF_NUMBERS = {"法律": "AC", "政令": "CO", "勅令": "IO"}
"""Kinds as law numbers name them, whose code in law ids is always the same."""


class Identity(NamedTuple):
    """Which text of which law a file holds.

    Attributes:
        law_id: as e-Gov has it.
        day: the day of the text (ISO); empty where unknown.
        amending_law: the id of the last one; empty where there is none.
    """

    law_id: str
    day: str
    amending_law: str


def identity(root: etree._Element, law: etree._Element, name: str, number: str) -> Identity:
    """Find out which text of which law a file holds.

    Args:
        root: the element that the file has.
        law: the ``Law`` in it.
        name: of the file.
        number: of the law, as it is printed.

    Raises:
        InputError: the id is nowhere to be found, or file name and content contradict each other.
    """
    match = _FILE_NAME.fullmatch(stem(name))
    law_id = _law_id(root, law, match.group(1) if match else "", number)
    dated, amending = _revision(root, name, match, law_id)
    return Identity(law_id, dated, "" if _NO_AMENDMENT.fullmatch(amending) else amending)


def said(root: etree._Element, path: str) -> str:
    """What the API's answer says of a law beside its text."""
    return (root.findtext(f".//{path}") or "").strip()


def _revision(
    root: etree._Element, name: str, match: re.Match[str] | None, law_id: str
) -> tuple[str, str]:
    """Return the day of the text and the amending law: by the file name, else by the answer."""
    if match is None or not match.group(2):
        revision = said(root, "revision_info/law_revision_id")
        of_answer = _FILE_NAME.fullmatch(revision)
        if of_answer and of_answer.group(1) == law_id:
            name, match = revision, of_answer
    if match is None:
        return "", ""
    dated = _day(name, *match.group(2, 3, 4)) if match.group(2) else ""
    return dated, match.group(5) or ""


def _day(name: str, year: str, month: str, day: str) -> str:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError as error:
        raise InputError(
            N_("The name {name!r} has a day that there is not: {day}."),
            N_("Take the file from e-Gov again, with the name it has there."),
            name=name,
            day=f"{year}-{month}-{day}",
        ) from error


def _law_id(root: etree._Element, law: etree._Element, from_name: str, number: str) -> str:
    """Find the id of a law in its file name, the API's envelope, or its number.

    Raises:
        InputError: it is nowhere to be found, or file name and content contradict each other.
    """
    stated = (
        root.findtext(".//law_info/law_id")
        or root.findtext("./ApplData/LawId")
        or law.get("LawId")
        or ""
    ).strip()
    stated = stated if re.fullmatch(_LAW_ID, stated) else ""
    if from_name and stated and from_name != stated:
        raise InputError(
            N_("The file is named for the law {from_name} but holds the law {stated}."),
            N_("Check where it came from, then rename it to {stated}.xml."),
            from_name=from_name,
            stated=stated,
        )
    if from_name and not stated and not _can_bear(from_name, number):
        raise InputError(
            N_("The file is named for the law {from_name} but holds {number}."),
            N_("Take the file from e-Gov again, with the name it has there."),
            from_name=from_name,
            number=number,
        )
    law_id = from_name or stated or _computed_id(law)
    if not law_id:
        raise InputError(
            N_("Neither the file name nor the XML gives the law id."),
            N_(
                "Name the file <law id>.xml or <law id>_<YYYYMMDD>.xml as e-Gov does, e.g. "
                "405AC0000000088_20240401.xml."
            ),
        )
    return law_id


def _can_bear(law_id: str, law_num: str) -> bool:
    """Whether a law of this number can have this id, as far as the number can be read.

    An id has era, year and kind of the law number, and ends in the last three digits of it, in all
    4,183 laws at hand. Which ministry made an ordinance is in codes that are not read here.
    """
    said, made = _LAW_NUMBER.fullmatch(law_num), enacted(law_id)
    if said is None or made is None:
        return True
    era, year, kind, number = said.groups()
    return (
        era == made.era
        and parse_year(year) == int(law_id[1:3])
        and law_id[3:].startswith(_KINDS_OF_NUMBERS.get(kind, ""))
        and (number is None or parse_numeral(number) % 1000 == int(law_id[-3:]))
    )


def _computed_id(law: etree._Element) -> str:
    era, year, number = (law.get(key, "") for key in ("Era", "Year", "Num"))
    if era not in _ERAS or not year.isdecimal():
        return ""
    dated = f"{tuple(_ERAS).index(era) + 1}{int(year):02}"
    if law.get("LawType") == "Constitution":
        return f"{dated}CONSTITUTION"
    kind = _COMPUTABLE.get(law.get("LawType", ""))
    return f"{dated}{kind}{int(number):010}" if kind and number.isdecimal() else ""


def promulgated(law: etree._Element) -> str:
    """Return the ISO date of promulgation, empty where unknown."""
    era = _ERAS.get(law.get("Era", ""))
    parts = [law.get(key, "") for key in ("Year", "PromulgateMonth", "PromulgateDay")]
    if era is None or not all(part.isdecimal() for part in parts):
        return ""
    year, month, day = (int(part) for part in parts)
    # Before, promulgation days are those of the old lunar calendar.
    if common_year(era, year) < _GREGORIAN:
        return ""
    try:
        return date(common_year(era, year), month, day).isoformat()
    except ValueError:
        return ""
