"""Downloads of e-Gov's laws, killed at many moments: nothing whole is fetched a second time.

A server on this machine serves laws as e-Gov does (`fake_egov`). The command ``localrag laws
download --to FOLDER`` runs in a process of its own. It is killed (SIGKILL) at moments spread over
the bytes to be sent, and started again. Then it runs to its end, and once more.

| part | laws come |
|---|---|
| ranges | as one archive; the server takes ranges |
| archive | as one archive, as e-Gov sends it: no size, no ranges |
| categories | as an archive for each of the fifty categories |
| named | one by one through API version 2 |
| faults | one by one; every tenth request is refused (429, 500) or cut |

A file is whole once it has its name. Checked: each file equals the server's, none is asked for
again after it was whole, and the last run fetches nothing. The laws are the plain texts of the
shared data as XML; further ones are copies under new ids.
"""

import json
import lzma
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import Any

from bench.options import parser
from fake_egov import FakeEGov, FakeState
from lxml import etree

from localrag.corpus.readers import ReadFailure, read

PARTS = ("ranges", "archive", "categories", "named", "faults")
_POLL = 0.001
_FAULTS = 300
"""Laws of the part with faults."""


def main() -> None:
    """Run the parts."""
    options = parser(__doc__)
    options.add_argument("--laws", type=int, default=4155, metavar="N", help="laws (4155)")
    options.add_argument("--kills", type=int, default=30, metavar="N", help="for each part (30)")
    options.add_argument("--parts", nargs="+", default=PARTS, choices=PARTS)
    options.add_argument("--seed", type=int, default=1, metavar="N", help="of all chance (1)")
    chosen = options.parse_args()
    states = list(islice(laws(chosen.data / "egov"), chosen.laws))
    print(f"{len(states):,} laws, {sum(len(one.xml) for one in states) / 1e6:,.1f} MB of XML")
    for part in chosen.parts:
        with tempfile.TemporaryDirectory() as folder:
            run = Run(part, states, Path(folder) / "laws", chosen.seed)
            print(f"{part}: {run.told(0 if part == 'faults' else chosen.kills)}", flush=True)


@dataclass
class Run:
    """One part.

    Attributes:
        part: its name.
        states: the laws.
        folder: where they are fetched to.
        seed: of the moments.
        whole: names of whole files at each kill, with the number of requests before it.
    """

    part: str
    states: Sequence[FakeState]
    folder: Path
    seed: int
    whole: list[tuple[int, frozenset[str]]] = field(default_factory=list)

    def told(self, kills: int) -> str:
        """Run the part, and tell its figures."""
        states = self.states[:_FAULTS] if self.part == "faults" else self.states
        fake = FakeEGov(list(states), ranges=self.part == "ranges")
        if self.part == "faults":
            self._spoil(fake)
        with fake.serving():
            started = time.perf_counter()
            hits = self._killed(fake, kills)
            finished = self._finished(fake)
            seconds = time.perf_counter() - started
            asked = len(self._fetches(fake))
            files, wrong = self._wrong(fake)
            last = self._finished(fake)
            more = len(self._fetches(fake)) - asked
        assert finished["failed"] == [], finished["failed"][:3]
        assert last["fetched"] == []
        return (
            f"{hits} of {kills} kills before the end; {files:,} files, {wrong} wrong; "
            f"{self._again(fake)} whole files fetched again; {more} fetched by the last run; "
            f"{fake.sent / 1e6:,.1f} MB sent for {self._needed(fake) / 1e6:,.1f} MB, "
            f"{fake.together} request at a time, {seconds:,.0f} s"
        )

    def _spoil(self, fake: FakeEGov) -> None:
        fake.retry_after = "0"
        chance = random.Random(self.seed)
        fake.statuses = [chance.choice((429, 500)) if n % 20 == 7 else 0 for n in range(2_000)]
        fake.drops = [100 if n % 20 == 13 else None for n in range(2_000)]

    def _killed(self, fake: FakeEGov, kills: int) -> int:
        """Kill the download at moments spread over its bytes; how often it was still running."""
        if not kills:
            return 0
        total, hits = self._needed(fake), 0
        fake.delay = 0.0005
        for number in range(1, kills + 1):
            # Without ranges an archive begins again: each run is killed at its own share.
            share = total * number / kills
            until = fake.sent + share if self.part == "archive" else share
            hits += self._kill_at(fake, until)
        fake.delay = 0.0
        return hits

    def _kill_at(self, fake: FakeEGov, until: float) -> bool:
        child = self._start(fake)
        while child.poll() is None and fake.sent < until:
            time.sleep(_POLL)
        running = child.poll() is None
        child.kill()
        child.communicate()
        self.whole.append((len(fake.asked), self._names()))
        return running

    def _names(self) -> frozenset[str]:
        files = self.folder.iterdir() if self.folder.exists() else ()
        return frozenset(one.name for one in files if not one.name.startswith("."))

    def _finished(self, fake: FakeEGov) -> dict[str, Any]:
        child = self._start(fake)
        out, err = child.communicate()
        if child.returncode:
            raise SystemExit(err.decode())
        self.whole.append((len(fake.asked), self._names()))
        told: dict[str, Any] = json.loads(out)
        return told

    def _start(self, fake: FakeEGov) -> "subprocess.Popen[bytes]":
        settings = [f"--set={key}={value}" for key, value in fake.settings.items()]
        what = [f"--category={number}" for number in self._categories]
        if self.part in ("named", "faults"):
            what = [one.law_id for one in fake.states]
        command = ["laws", "download", *what, "--to", str(self.folder), "--json"]
        return subprocess.Popen(
            [sys.executable, "-m", "localrag", *settings, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    @property
    def _categories(self) -> list[int]:
        used = {one.category for one in self.states}
        return sorted(used) if self.part == "categories" else []

    def _wanted(self) -> Iterator[tuple[str, dict[str, str]]]:
        """The archives of a part: their file and the parameters of their address."""
        if self.part in ("ranges", "archive"):
            yield "all_xml.zip", {"file_section": "1", "only_xml_flag": "true"}
        for number in map(str, self._categories):
            asked = {"file_section": "2", "category_cd": number, "only_xml_flag": "true"}
            yield f"{number}_xml.zip", asked

    def _needed(self, fake: FakeEGov) -> int:
        """Bytes of all answers, if none is sent twice."""
        archives = sum(len(fake.archive(asked) or b"") for _, asked in self._wanted())
        return archives or sum(len(one.xml) for one in fake.states)

    def _wrong(self, fake: FakeEGov) -> tuple[int, int]:
        """Number of files, and of missing or different ones."""
        archives = list(self._wanted())
        if archives:
            wrong = sum(
                (self.folder / name).read_bytes() != fake.archive(asked) for name, asked in archives
            )
            return len(archives), wrong
        wrong = 0
        for one in fake.states:
            found = list(read(self.folder / f"{one.id}.xml"))
            wrong += len(found) != 1 or isinstance(found[0], ReadFailure)
        return len(fake.states), wrong

    def _fetches(self, fake: FakeEGov) -> list[str]:
        """The files asked for, in order."""
        return [name for _, name in self._asked(fake)]

    def _asked(self, fake: FakeEGov) -> Iterator[tuple[int, str]]:
        for number, line in enumerate(fake.asked):
            address = line.partition(" ")[2]
            if "category_cd=" in address:
                yield number, f"{address.split('category_cd=')[1].partition('&')[0]}_xml.zip"
            elif "bulkdownload" in address:
                yield number, "all_xml.zip"
            elif "/law_data/" in address:
                yield number, f"{address.split('/law_data/')[1].partition('?')[0]}.xml"

    def _again(self, fake: FakeEGov) -> int:
        """Files asked for after they were whole."""
        return sum(
            any(before <= number and name in names for before, names in self.whole)
            for number, name in self._asked(fake)
        )


def laws(folder: Path) -> Iterator[FakeState]:
    """The laws of the shared data; after the last one copies under new ids."""
    known: set[str] = set()
    for copy in count():
        before = len(known)
        with lzma.open(folder / "all_laws.jsonl.xz", "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                law = json.loads(line)
                # Eras have the numbers 1 to 5.
                law_id = f"{899 + copy}{law['law_id'][3:]}" if copy else law["law_id"]
                day = law["date"].replace("-", "") or "20200401"
                if law_id not in known:
                    known.add(law_id)
                    yield FakeState(
                        f"{law_id}_{day}_000000000000000",
                        law["title"],
                        law["law_num"],
                        _xml(law),
                        category=number % 50 + 1,
                    )
        if len(known) == before:
            return


def _xml(law: dict[str, Any]) -> bytes:
    root = etree.Element("Law", Lang="ja")
    etree.SubElement(root, "LawNum").text = law["law_num"]
    body = etree.SubElement(root, "LawBody")
    etree.SubElement(body, "LawTitle").text = law["title"]
    main = etree.SubElement(body, "MainProvision")
    further = None
    for article in law["articles"]:
        place = main
        if article.get("suppl"):
            if further is None:
                further = etree.SubElement(body, "SupplProvision")
            place = further
        if article["num"] is not None:
            place = etree.SubElement(place, "Article", Num=article["num"])
            etree.SubElement(place, "ArticleCaption").text = article.get("caption")
            etree.SubElement(place, "ArticleTitle").text = article.get("title")
        for number, paragraph in enumerate(article["paragraphs"], start=1):
            part = etree.SubElement(place, "Paragraph", Num=str(number))
            etree.SubElement(part, "ParagraphNum")
            sentence = etree.SubElement(etree.SubElement(part, "ParagraphSentence"), "Sentence")
            sentence.text = paragraph["text"]
    return bytes(etree.tostring(root, encoding="UTF-8", xml_declaration=True))


if __name__ == "__main__":
    main()
