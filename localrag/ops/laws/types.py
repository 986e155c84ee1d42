"""Archives of e-Gov by their scope, categories, states of laws."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Self

from localrag.errors import UsageError
from localrag.language import N_

ALL = "all"
"""The archive of all laws in force and to come."""

_NAMES = (
    "憲法 刑事 財務通則 水産業 観光 国会 警察 国有財産 "
    "鉱業 郵務 行政組織 消防 国税 工業 電気通信 国家公務員 "
    "国土開発 事業 商業 労働 行政手続 土地 国債 金融・保険 "
    "環境保全 統計 都市計画 教育 外国為替・貿易 厚生 地方自治 道路 "
    "文化 陸運 社会福祉 地方財政 河川 産業通則 海運 社会保険 "
    "司法 災害対策 農業 航空 防衛 民事 建築・住宅 林業 "
    "貨物運送 外事 "
)
CATEGORIES: Mapping[int, str] = dict(enumerate(_NAMES.split(), start=1))
"""e-Gov's categories of laws (事項別分類) by their number (``category_cd``)."""


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive of e-Gov.

    Attributes:
        scope: ``all``, ``category:13`` or ``day:2026-11-28``.
    """

    scope: str

    @classmethod
    def of_day(cls, day: date) -> Self:
        """The laws changed on a day."""
        return cls(f"day:{day.isoformat()}")

    @classmethod
    def of_category(cls, number: int) -> Self:
        """The laws of a category."""
        return cls(f"category:{number}")

    @property
    def day(self) -> str:
        """The day (ISO) of an archive of changes; "" for others."""
        return self.scope.partition("day:")[2]

    @property
    def file(self) -> str:
        """The name of its file."""
        kind, _, value = self.scope.partition(":")
        return f"{value.replace('-', '') or kind}_xml.zip"

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of its address."""
        kind, _, value = self.scope.partition(":")
        if kind == ALL:
            asked = {"file_section": "1"}
        elif kind == "category":
            asked = {"file_section": "2", "category_cd": value}
        else:
            asked = {"file_section": "3", "update_date": value.replace("-", "")}
        return {**asked, "only_xml_flag": "true"}


@dataclass(frozen=True, slots=True)
class Revision:
    """A state of a law at e-Gov.

    Attributes:
        id: ``<law id>_<day>_<amending law>``.
        law_id, title, law_num: of the law.
        day: its first day in force (ISO).
        status: ``CurrentEnforced``, ``UnEnforced``, ``PreviousEnforced`` or ``Repeal``.
        updated: when e-Gov last corrected its data.
        names: its abbreviations.
    """

    id: str
    law_id: str
    title: str
    law_num: str
    day: str
    status: str
    updated: str
    names: tuple[str, ...] = ()

    @property
    def is_needed(self) -> bool:
        """Whether it is in force or to come."""
        return self.status in ("CurrentEnforced", "UnEnforced")


def category(word: str) -> int:
    """The number of a category, given by its number or name.

    Raises:
        UsageError: there is no such category.
    """
    number = int(word) if word.isascii() and word.isdecimal() else None
    for known, name in CATEGORIES.items():
        if word == name or number == known:
            return known
    raise UsageError(
        N_("e-Gov has no category {word}."),
        N_("See them: localrag laws list --categories"),
        word=word,
    )
