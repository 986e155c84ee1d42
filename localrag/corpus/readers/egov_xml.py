"""e-Gov 法令標準XML: a bare ``Law``, or one inside the answers of the e-Gov API, version 1 or 2."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Any

from lxml import etree

from localrag.corpus.readers.characters import drop_controls
from localrag.corpus.readers.egov_structure import LawWriter
from localrag.corpus.readers.egov_text import inline
from localrag.corpus.readers.naming import stem
from localrag.corpus.readers.statute import StatuteBuilder
from localrag.corpus.readers.types import Limits
from localrag.corpus.types import Document
from localrag.errors import InputError

_LAW_ID = r"\d{3}(?:CONSTITUTION|[A-Z]{1,4}\d{8,11})"
_FILE_NAME = re.compile(rf"({_LAW_ID})(?:_(\d{{4}})(\d{{2}})(\d{{2}}))?(?:_\w+)?")
_ERAS = {
    "Meiji": (1, 1867),
    "Taisho": (2, 1911),
    "Showa": (3, 1925),
    "Heisei": (4, 1988),
    "Reiwa": (5, 2018),
}
"""Era: its digit in law ids, and the year before its first."""
_GREGORIAN = 1873
"""The year in which Japan took over the Gregorian calendar."""
# Kinds whose ids follow from era, year and number. Acts do not (the id tells who introduced the
# bill), nor do ordinances (it tells the ministries).
_COMPUTABLE = {"CabinetOrder": "CO", "ImperialOrder": "IO"}


def read_egov_xml(name: str, data: bytes, limits: Limits) -> Iterator[Document]:  # noqa: ARG001
    """Read the law in an e-Gov XML file.

    Args:
        name: file name, which gives law id and date where it has e-Gov's form
            (``323AC0000000025_20151201_….xml``).
        data: the file.
        limits: of no effect: the caller has bounded `data`.

    Raises:
        InputError: the XML is damaged, declares entities, holds no law, or its id is unknown.
    """
    root = _parse(data)
    law = root if root.tag == "Law" else next(root.iter("Law"), None)
    body = law.find("LawBody") if law is not None else None
    if law is None or body is None:
        raise InputError(
            f"The XML holds no law (root element {root.tag!r}).",
            "Only 法令標準XML (e-Gov) is read; take the full text of the law from e-Gov.",
        )
    match = _FILE_NAME.fullmatch(stem(name))
    law_id = _law_id(root, law, match.group(1) if match else "")
    heading, law_num = body.find("LawTitle"), inline(law.find("LawNum")).strip()
    title = inline(heading).strip() or law_num
    if not title:
        raise InputError("The law has neither a title nor a law number.", "The file is damaged.")
    builder = StatuteBuilder(law_id, title)
    LawWriter(builder).law(law, body)
    metadata = {
        "law_num": law_num,
        "law_type": law.get("LawType", ""),
        "promulgated": _promulgated(law),
        "date": "-".join(match.groups()[1:]) if match and match.group(2) else "",
        "abbreviations": heading.get("Abbrev", "") if heading is not None else "",
    }
    yield builder.document(name, {k: drop_controls(v) for k, v in metadata.items() if v})


def _parse(data: bytes) -> etree._Element:
    parser = etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise InputError(f"The XML is damaged: {error.msg}.", "Download the file again.") from error
    dtd: Any = root.getroottree().docinfo.internalDTD
    if dtd is not None and (dtd.system_url or any(True for _ in dtd.iterentities())):
        raise InputError(
            "The XML declares entities or an external DTD, which are never resolved.",
            "Take the file from e-Gov: its XML declares none.",
        )
    return root


def _law_id(root: etree._Element, law: etree._Element, from_name: str) -> str:
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
            f"The file is named for the law {from_name} but holds the law {stated}.",
            f"Check where it came from, then rename it to {stated}.xml.",
        )
    law_id = from_name or stated or _computed_id(law)
    if not law_id:
        raise InputError(
            "Neither the file name nor the XML gives the law id.",
            "Name the file <law id>.xml or <law id>_<YYYYMMDD>.xml as e-Gov does, "
            "e.g. 405AC0000000088_20240401.xml.",
        )
    return law_id


def _computed_id(law: etree._Element) -> str:
    era, _ = _ERAS.get(law.get("Era", ""), (0, 0))
    year, number = law.get("Year", ""), law.get("Num", "")
    if law.get("LawType") == "Constitution" and era:
        return f"{era}{int(year):02}CONSTITUTION" if year.isdecimal() else ""
    kind = _COMPUTABLE.get(law.get("LawType", ""))
    if not (era and kind and year.isdecimal() and number.isdecimal()):
        return ""
    return f"{era}{int(year):02}{kind}{int(number):010}"


def _promulgated(law: etree._Element) -> str:
    """Return the ISO date of promulgation, empty where unknown."""
    _, base = _ERAS.get(law.get("Era", ""), (0, 0))
    parts = [law.get(key, "") for key in ("Year", "PromulgateMonth", "PromulgateDay")]
    if not base or not all(part.isdecimal() for part in parts):
        return ""
    year, month, day = (int(part) for part in parts)
    # Before, promulgation days are those of the old lunar calendar.
    if base + year < _GREGORIAN:
        return ""
    try:
        return date(base + year, month, day).isoformat()
    except ValueError:
        return ""
