"""Every verb on the sample corpus, as text and as JSON."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localrag import sample as sample_corpus
from localrag.corpus.workspace import Workspace, writing

from ....patience import PATIENCE
from ....rows import each

ACT, ORDER = "599AC0000000001", "599CO0000000002"
Cli = Callable[..., Any]


def test_init_is_idempotent(cli: Cli, home: Path) -> None:
    assert cli("init").code == 0
    (home / "localrag.toml").write_text('corpus = "mine"\n', encoding="utf-8")
    again = cli("init", "--json")
    assert again.json == {"workspace": str(home)}
    assert cli("config", "corpus", "--json").json[0]["value"] == "mine"


def test_init_tells_of_settings_that_cannot_be_read(cli: Cli, home: Path) -> None:
    assert cli("init").code == 0
    with (home / "localrag.toml").open("a", encoding="utf-8") as settings:
        settings.write('[workspace]\nreaders = "group"\n')
    again = cli("init")
    assert again.code == 5
    assert "localrag.toml" in again.err


def test_home_may_be_named(cli: Cli, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere [bold]"
    assert cli("--home", str(elsewhere), "init").code == 0
    assert (elsewhere / "localrag.toml").exists()


def test_show_writes_to_a_file(cli: Cli, sample: Path, tmp_path: Path) -> None:
    path = tmp_path / "第8条.md"
    shown = cli("show", "渡し舟法8条", "--out", str(path))
    assert (shown.code, shown.out) == (0, "")
    assert "written: " in shown.err
    assert "渡し舟の安全及び活用に関する法律第8条（令和九十九年" in path.read_text("utf-8")
    assert cli("show", "渡し舟法8条", "--out", str(path)).code == 2
    as_json = cli("show", "渡し舟法8条", "--out", str(path.with_stem("again")), "--json")
    assert as_json.json == cli("show", "渡し舟法8条", "--json").json
    assert path.with_stem("again").exists()
    refused = cli("show", "渡し舟法8条", "--out", str(tmp_path / "x.xlsx"))
    assert refused.code == 2
    assert ".docx" in refused.err


def test_add_reports_what_it_did(cli: Cli, tmp_path: Path) -> None:
    cli("init")
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "good.md").write_text("# 題\n\n本文です。\n", encoding="utf-8")
    (folder / "bad.xml").write_text("<Law><broken", encoding="utf-8")
    (folder / "speech.mp3").write_bytes(b"ID3")
    outcome = cli("add", str(folder), "--json")
    assert outcome.code == 4
    report = outcome.json
    assert (report["corpus"], report["added"]) == ("main", 1)
    assert "bad.xml" in report["failed"][0]["source"]
    assert report["unsupported"] == {".mp3": 1}
    again = cli("add", str(folder))
    assert "0 documents added" in again.out
    assert "1 .mp3" in again.out
    assert "bad.xml" in again.err


def test_add_reports_duplicates(cli: Cli, tmp_path: Path) -> None:
    cli("init")
    for name in ("one [x].md", "two.md"):
        (tmp_path / name).write_text("# 題\n\n同じ本文です。\n", encoding="utf-8")
    outcome = cli("add", str(tmp_path / "one [x].md"), str(tmp_path / "two.md"), "--json")
    assert outcome.code == 0
    (duplicate,) = outcome.json["duplicates"]
    assert duplicate["source"].endswith("two.md")
    assert "one [x].md" in outcome.err


def test_a_corpus_in_use_is_busy(cli: Cli, sample: Path) -> None:
    with writing(Workspace.locate(sample).corpus("main")):
        for arguments in (["add", "--sample"], ["index"], ["remove", ACT]):
            outcome = cli(*arguments)
            assert outcome.code == 6
            assert "written by" in outcome.err
        assert cli("search", "渡し守").code == 0


def test_add_counts_duplicates_and_names_a_few(cli: Cli, tmp_path: Path) -> None:
    cli("init")
    lines = "".join(f'{{"id": "d{n}", "text": "舟が出る。"}}\n' for n in range(9))
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text(lines + "\n" * (name == "b.jsonl"), encoding="utf-8")
    outcome = cli("add", str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"))
    assert outcome.err.count("holds the same as") == 3
    assert "duplicate: 6 further documents of b.jsonl" in outcome.err
    assert "left out, the corpus has the same: 9" in outcome.out


def test_add_tells_documents_that_stay_though_their_file_lost_them(
    cli: Cli, tmp_path: Path
) -> None:
    cli("init")
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "a", "text": "舟。"}\n{"id": "b", "text": "橋。"}\n', encoding="utf-8")
    cli("add", str(path))
    path.write_text('{"id": "a", "text": "舟。"}\n{broken\n', encoding="utf-8")
    outcome = cli("add", str(path))
    assert outcome.code == 4
    assert "1 document no longer in a.jsonl stays in the corpus: not everything" in outcome.err
    assert "1 document kept" in outcome.out
    (kept,) = cli("add", str(path), "--json").json["kept"]
    assert (kept["source"], kept["documents"]) == ("a.jsonl", 1)


def test_add_prune_drops_what_is_gone(cli: Cli, tmp_path: Path) -> None:
    cli("init")
    page = tmp_path / "texts" / "page.md"
    page.parent.mkdir()
    page.write_text("# 題\n\n本文です。\n", encoding="utf-8")
    cli("add", str(page.parent), "--corpus", "work")
    page.unlink()
    assert "--prune" in cli("add", str(page.parent), "--corpus", "work").out
    assert (
        cli("add", str(page.parent), "--corpus", "work", "--prune", "--json").json["removed"] == 1
    )


def test_add_refuses_a_path_that_does_not_exist(cli: Cli) -> None:
    cli("init")
    outcome = cli("add", "/nowhere/at all")
    assert outcome.code == 3
    assert "/nowhere/at all" in outcome.err


def test_list_corpora(cli: Cli, sample: Path) -> None:
    (row,) = cli("list", "--json").json
    assert (row["corpus"], row["documents"], row["index"]) == ("main", 12, "fresh")
    assert "main" in cli("list").out


def test_list_documents(cli: Cli, sample: Path) -> None:
    rows = cli("list", "main", "--kind", "law", "--json").json
    assert [row["id"] for row in rows] == [ACT, ORDER, "599M60000800003"]
    assert rows[0]["metadata"]["law_type"] == "Act"
    assert "渡し舟の安全及び活用に関する法律" in cli("list", "main").out


def test_list_is_complete_beyond_what_is_held_at_once(cli: Cli, tmp_path: Path) -> None:
    cli("init")
    ids = [f"舟{n}" for n in range(2_500)]
    rows = "".join(f'{{"id": "{one}", "title": "渡\\n[b]", "text": "舟。"}}\n' for one in ids)
    (tmp_path / "a.jsonl").write_text(rows, encoding="utf-8")
    cli("add", str(tmp_path / "a.jsonl"))
    assert [row["id"] for row in cli("list", "main", "--json").json] == ids
    heading, *lines = cli("list", "main").out.splitlines()
    assert heading.split() == ["id", "kind", "date", "passages", "title"]
    assert [line.split()[0] for line in lines] == ids
    assert cli("list", "main", "--kind", "law", "--json").json == []
    assert cli("list", "--json").json[0]["documents"] == 2_500


def test_an_unknown_corpus_names_the_known_ones(cli: Cli, sample: Path) -> None:
    for arguments in (["list", "x"], ["search", "舟", "-c", "x"], ["index", "-c", "x"]):
        outcome = cli(*arguments)
        assert outcome.code == 3
        assert "main" in outcome.err


def test_index_does_nothing_twice(cli: Cli, sample: Path) -> None:
    assert "up to date" in cli("index").out
    report = cli("index", "--rebuild", "--json").json
    assert not report["skipped"]
    assert min(report["passages"], report["references"], report["definitions"]) > 0


def test_remove_documents_then_search_says_the_index_is_behind(cli: Cli, sample: Path) -> None:
    removed = cli("remove", ORDER, "--json")
    assert removed.json == {"corpus": "main", "documents": [ORDER], "all": False}
    assert cli("list", "--json").json[0]["index"] == "behind"
    outcome = cli("search", "渡し舟の長さ")
    assert outcome.code == 0
    assert "localrag index" in outcome.err
    assert ORDER not in outcome.out


def test_remove_takes_all_or_nothing(cli: Cli, sample: Path) -> None:
    assert cli("remove", ACT, "absent").code == 3
    assert cli("list", "--json").json[0]["documents"] == 12
    assert cli("remove").code == 2
    assert cli("remove", ACT, "--all").code == 2


def test_remove_a_corpus_wants_a_yes(cli: Cli, sample: Path) -> None:
    refused = cli("remove", "--all")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert cli("remove", "--all", "--yes").code == 0
    assert cli("list", "--json").json == []
    assert not list(sample.glob("corpora/*")) + list(sample.glob("indexes/*"))


def test_search(cli: Cli, sample: Path) -> None:
    outcome = cli("search", "渡し守の資格", "-k", "3", "--json")
    found = outcome.json
    assert found["query"]["text"] == "渡し守の資格"
    assert [hit["rank"] for hit in found["hits"]] == [1, 2, 3][: len(found["hits"])]
    passages = [hit["passage"] for hit in found["hits"]]
    assert any(p["document_id"] == ORDER and p["locator"].startswith("3") for p in passages)
    assert {stage["stage"] for stage in found["trace"]} >= {"resolve", "lexical", "fuse"}
    text = cli("search", "渡し守の資格", "--explain").out
    assert "stage words" in text
    assert passages[0]["id"] in text


def test_search_tells_what_it_looked_up_instead_of_everyday_words(cli: Cli, sample: Path) -> None:
    outcome = cli("search", "渡し守のクビ")
    assert outcome.code == 0
    assert outcome.err == "also searched: クビ → 解雇\n"
    assert cli("search", "平均賃金の渡し守").err == ""
    lexical = next(
        stage
        for stage in cli("search", "渡し守のクビ", "--json").json["trace"]
        if stage["stage"] == "lexical"
    )
    assert lexical["wordings"] == [{"said": "クビ", "phrases": ["解雇"]}]
    assert cli("ask", "渡し守のクビ").err == outcome.err


@each(
    ("options", "allowed"),
    [
        (["--type", "CabinetOrder"], {ORDER}),
        (["--law", "渡し舟法"], {ACT}),
        (["--law", ACT, "--law", ORDER], {ACT, ORDER}),
        (["--from", "2026-04-01", "--to", "2026-04-01", "--type", "Act"], {ACT}),
    ],
)
def test_search_filters(cli: Cli, sample: Path, options: list[str], allowed: set[str]) -> None:
    hits = cli("search", "渡し舟の長さ", "--json", *options).json["hits"]
    assert hits
    assert {hit["passage"]["document_id"] for hit in hits} <= allowed


@pytest.mark.parametrize(
    ("options", "code", "part"),
    [
        (["--from", "yesterday"], 2, "--from 'yesterday'"),
        (["--law", "存在しない法"], 3, "存在しない法"),
        (["--layer", "nonsense"], 2, "nonsense"),
    ],
)
def test_search_refuses_bad_filters(
    cli: Cli, sample: Path, options: list[str], code: int, part: str
) -> None:
    outcome = cli("search", "渡し舟", *options)
    assert outcome.code == code
    assert part in outcome.err


def test_nothing_found_has_its_own_exit_code(cli: Cli, sample: Path) -> None:
    for verb in ("search", "ask"):
        outcome = cli(verb, "zyzzyva")
        assert outcome.code == 3
        assert "Traceback" not in outcome.err


@each("question", ["", "  \n", "？！。", "あ" * 100_000])
def test_what_is_no_question_is_refused(cli: Cli, sample: Path, question: str) -> None:
    for verb in ("search", "ask"):
        outcome = cli(verb, "-", stdin=question)
        assert outcome.code == 2
        assert outcome.out == ""
        assert outcome.err.startswith("error: ")
        assert len(outcome.err) < 1000


def test_text_in_another_encoding_is_refused(sample: Path) -> None:
    for arguments, stdin in ((["ask", "-"], "渡し舟".encode("cp932")), (["show", b"\x93n"], b"")):
        finished = subprocess.run(
            [sys.executable, "-m", "localrag", *arguments],
            input=stdin,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        assert finished.returncode == 2
        assert b"not valid UTF-8" in finished.stderr


def test_ask_quotes_the_act_and_the_order(cli: Cli, sample: Path) -> None:
    outcome = cli("ask", sample_corpus.QUESTION, "--json")
    assert outcome.code == 0
    answer = outcome.json
    assert answer["status"] == "quoted"
    assert answer["absent"] == []
    assert all(citation["verified"] and not citation["beside"] for citation in answer["citations"])
    places = {citation["passage_id"] for citation in answer["citations"]}
    assert any(place.startswith(f"{ACT}#8") for place in places)
    assert any(place.startswith(f"{ORDER}#4") for place in places)
    quotes = "".join(citation["quote"] for citation in answer["citations"])
    assert "一・五メートル" in quotes


def test_ask_prints_numbered_quotations(cli: Cli, sample: Path) -> None:
    out = cli("ask", "-", stdin=sample_corpus.QUESTION).out
    assert out.startswith("quoted: the closest passages, word for word; check that")
    assert "[1] " in out
    assert "第八条" in out
    quoted, near = out.split("\nAlso near in this corpus; they may not answer:\n")
    assert quoted.count("  in force from 2026-04-01\n") == quoted.count("#"), "of each law"
    assert near.count("\n") == 5, "a line each"


def test_ask_writes_to_a_file(cli: Cli, sample: Path, tmp_path: Path) -> None:
    path = tmp_path / "answer.md"
    options = ("--option", "一メートル", "--option", "二メートル")
    asked = cli("ask", sample_corpus.QUESTION, *options, "--out", str(path))
    assert (asked.code, asked.out) == (0, "")
    text = path.read_text("utf-8")
    assert text.startswith(f"> {sample_corpus.QUESTION}")
    assert "a: 一メートル" in text
    assert "（令和九十九年" in text, "cited with the number of the law"
    assert "599AC" not in text, "ids are for programs"
    assert cli("ask", sample_corpus.QUESTION, "--out", str(path)).code == 2
    word = path.with_suffix(".docx")
    as_json = cli("ask", sample_corpus.QUESTION, "--out", str(word), "--json")
    assert as_json.json["status"] == "quoted"
    assert word.read_bytes().startswith(b"PK")
    assert cli("ask", sample_corpus.QUESTION, "--out", str(tmp_path / "x.csv")).code == 2


def test_below_an_answer_that_is_not_found_are_the_nearest_passages(cli: Cli, sample: Path) -> None:
    asked = "所得税の確定申告の期限はいつか。"
    outcome = cli("ask", asked)
    assert outcome.code == 3
    _, near = outcome.out.split("\nNearest in this corpus; they may not answer:\n")
    listed = cli("ask", "--json", asked).json["nearest"]
    assert len(listed) == 5
    assert near.splitlines() == [
        f"  {one['label']}  {one['beginning']}  {one['passage_id']}" for one in listed
    ]


def test_a_law_that_the_corpus_lacks_is_told_before_anything_else(cli: Cli, sample: Path) -> None:
    asked = "会社法における渡し守の資格は何か。"
    outcome = cli("ask", asked)
    assert outcome.code == 3
    first, second = outcome.out.splitlines()[:2]
    assert first == "not in this corpus: 会社法"
    assert not second.startswith("supported")
    assert "会社法" not in outcome.err, "it is told once"
    assert "会社法" not in cli("ask", "会社法423条の責任").err
    assert "会社法" not in cli("search", asked).err
    answer = cli("ask", asked, "--json").json
    assert answer["absent"] == ["会社法"]
    assert all(citation["beside"] for citation in answer["citations"])


def test_ask_in_english(cli: Cli, sample: Path) -> None:
    outcome = cli("ask", "When was the Fennimore refractor finished?")
    assert outcome.code == 0
    assert "1871" in outcome.out


def test_options_are_part_of_the_question(cli: Cli, sample: Path) -> None:
    asked = cli(
        "search", "正しいものはどれか。", "--option", "救命胴衣", "--option", "赤色の旗", "--json"
    )
    assert asked.json["query"]["options"] == ["救命胴衣", "赤色の旗"]
    assert asked.json["hits"]


def test_show(cli: Cli, sample: Path) -> None:
    view = cli("show", "渡し舟法8条1項", "--json").json
    assert view["passage"]["id"] == f"{ACT}#8.1"
    assert [title.split("　")[0] for title in view["place"]] == ["第二章", "第二節"]
    assert any(link["document_id"] == ORDER for link in view["filled_in_by"])
    (left,) = view["delegations"]
    assert (left["words"], left["locator"]) == ("水位又は風速が政令で定める基準", "8.1")
    assert [link["document_id"] for link in left["filled_in_by"]] == [ORDER]
    assert {"渡し守", "渡し舟"} <= {term["term"] for term in view["terms"]}
    text = cli("show", "渡し舟法", "第八条").out
    for part in (
        "第二節　運航",
        "Left to orders",
        "政令で定める基準  → ",
        "Referred to by",
        "Terms",
        "599AC0000000001#8",
    ):
        assert part in text


def test_the_only_paragraph_of_an_article_is_cited_as_the_article(cli: Cli, sample: Path) -> None:
    view = cli("show", "渡し舟法15条1項", "--json").json
    assert [link["document_id"] for link in view["filled_in_by"]] == [ORDER]


def test_show_an_order_finds_terms_of_its_act(cli: Cli, sample: Path) -> None:
    view = cli("show", "渡し舟の安全及び活用に関する法律施行令３条", "--json").json
    assert any(term["passage"]["document_id"] == ACT for term in view["terms"])
    assert any(link["kind"] == "delegated-by" for link in view["refers_to"])


@each(
    "target",
    [
        "渡し舟法99条",
        "存在しない法1条",
        "nonsense",
        "渡し舟9〜8条",
        "渡し舟法 第九章",
        "存在しない法 第一章",
        "渡し舟" + "9" * 10_000,
        "①①①",
        "第十百条",
    ],
)
def test_show_what_is_not_there(cli: Cli, sample: Path, target: str) -> None:
    outcome = cli("show", target)
    assert outcome.code in (2, 3)
    assert outcome.err.startswith("error: ")
    assert "Traceback" not in outcome.err


def test_show_each_provision_of_a_range_and_of_a_list(cli: Cli, sample: Path) -> None:
    several = cli("show", "渡し舟法7〜8条", "--json").json
    assert [one["passage"]["id"] for one in several["provisions"]] == [f"{ACT}#7", f"{ACT}#8"]
    assert several["left_out"] == 0
    assert cli("show", "渡し舟7・8", "--json").json == several
    printed = cli("show", "渡し舟法7条及び8条")
    assert printed.out.index("第七条") < printed.out.index("第八条")
    assert "localrag show ID" in printed.err
    assert "Implemented by" not in printed.out


def test_show_what_a_law_holds(cli: Cli, sample: Path) -> None:
    whole = cli("show", "渡し舟法", "--json").json
    assert whole["document"]["id"] == ACT
    assert whole["place"] == []
    chapter = whole["parts"][1]
    assert chapter["title"].startswith("第二章")
    assert chapter["passage_id"] is None
    printed = cli("show", "渡し舟法").out
    assert "第二章" in printed
    assert f"{ACT}#8" not in printed
    part = cli("show", "渡し舟法第二章第二節", "--json").json
    assert [title.split("　")[0] for title in part["place"]] == ["第二章", "第二節"]
    assert part["parts"][0]["first"] == part["parts"][0]["last"]
    assert f"{ACT}#8" in [one["passage_id"] for one in part["parts"]]
    assert f"{ACT}#8" in cli("show", "渡し舟法", "2章2節").out


def test_show_a_page_by_its_id(cli: Cli, sample: Path) -> None:
    identifier = cli("search", "kite mail", "--json").json["hits"][0]["passage"]["id"]
    assert "kite" in cli("show", identifier).out


def test_show_what_is_known_of_a_subject(cli: Cli, sample: Path) -> None:
    lines = cli("show", "かわせみ丸").out.splitlines()
    assert lines[0] == "かわせみ丸"
    assert "Known besides (3)" in lines
    known = cli("show", "triples/boats.tsv:2", "--json").json["known"]
    assert [one["triple"]["predicate"] for one in known] == ["建造者", "建造年", "長さ"]


def test_config(cli: Cli, sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {setting["key"]: setting for setting in cli("config", "--json").json}
    assert settings["retrieval.k"]["source"] == "default"
    monkeypatch.setenv("LOCALRAG_RETRIEVAL__K", "4")
    assert cli("config", "retrieval.k", "--json").json[0]["value"] == 4
    assert cli("--set", "retrieval.k=2", "config", "retrieval.k", "--json").json[0]["value"] == 2
    assert cli("config", "absent").code == 2
    assert cli("--set", "retrieval.kk=2", "config").code == 2


def test_hostile_documents_do_not_reach_the_terminal(cli: Cli, tmp_path: Path) -> None:
    cli("init")
    page = tmp_path / "evil [bold red]\x1b[31m.md"
    page.write_text(
        "# 題 [/] \x1b]0;title\x07\n\n"
        "[bold red]危険な文書[/bold red] \x1b[2J\x9b2J の本文です。[link=x]\n",
        encoding="utf-8",
    )
    assert cli("add", str(page)).code == 0
    assert cli("index").code == 0
    outcomes = [
        cli("list", "main"),
        cli("search", "危険な文書 [bold] \x1b[2J", "--explain"),
        cli("search", "危険な文書", "--json"),
        cli("ask", "危険な文書の本文"),
        cli("show", "\x1b[2J[/]"),
        cli("remove", "\x1b[2J[/]"),
    ]
    for outcome in outcomes:
        assert outcome.code != 1, outcome.err
        for text in (outcome.out, outcome.err):
            assert not {"\x1b", "\x07", "\x9b"} & set(text)
    assert "[bold red]危険な文書[/bold red]" in outcomes[1].out
    assert any("[bold red]" in h["passage"]["text"] for h in outcomes[2].json["hits"])


def test_the_same_in_a_process_of_its_own(shell: Cli, sample: Path) -> None:
    outcome = shell("ask", "-", "--json", stdin=sample_corpus.QUESTION)
    assert outcome.code == 0
    assert json.loads(outcome.out)["status"] == "quoted"
    assert outcome.err == ""


@pytest.mark.usefixtures("sample")
def test_what_filters_leave_is_told_where_nothing_is_found(cli: Cli) -> None:
    nothing = ["--where", "kind=Act; ministry=国土交通省"]
    asked = cli("ask", "渡し守の資格は何か", *nothing)
    assert asked.code == 3
    assert "the filters leave nothing of this corpus to answer from" in asked.out
    found = cli("search", "渡し守", *nothing).err
    assert "nothing in the corpus matches all of these: kind=Act, ministry=国土交通省" in found
    assert "if you change one of these: kind=MinisterialOrdinance" in found
    little = cli("ask", "ペンギンの鳴き声", "--where", "chapter=第五章　罰則")
    assert "nothing in the part of this corpus matched by the filters" in little.out
    assert "match 2 articles" in little.err
    assert "nothing in this corpus supports" in cli("ask", "ペンギンの鳴き声").out
    assert cli("search", "渡し守", "--where", "").code == 2
    of_facts = cli("search", "ペンギン", "--where", "kind=triples").err
    assert "match 17 articles, passages or triples" in of_facts


@pytest.mark.usefixtures("sample")
@each(
    ("filters", "told", "instead"),
    [
        (["--from", "2040-01-01"], "from=2040-01-01", "date=2026-04-01"),
        (["--law", "渡し舟法", "--layer", "triples"], "layer=triples", "layer=articles"),
        (
            ["--type", "Act", "--where", "ministry=国土交通省"],
            "ministry=国土交通省, type=Act",
            "type=MinisterialOrdinance",
        ),
        (["--where", "chapter=罰則; kind=政令"], "chapter=罰則, kind=CabinetOrder", "kind=Act"),
    ],
)
def test_filters_that_leave_nothing_tell_what_there_is(
    cli: Cli, filters: list[str], told: str, instead: str
) -> None:
    for verb in ("search", "ask"):
        found = cli(verb, "ペンギンの鳴き声", *filters)
        assert found.code == 3
        first, second = found.err.splitlines()[:2]
        assert first.startswith("note: nothing in the corpus matches all of these:")
        assert first.endswith(told)
        assert "something matches if" in second
        assert instead in second
