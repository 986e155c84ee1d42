"""Presentations as documents: slides in order, omissions."""

import pytest
from bench.office_files import Slide, pptx, shape, slide_table, strict

from localrag.corpus.types import Omission


def deck() -> bytes:
    return pptx(
        [
            Slide(
                [
                    shape("舟は、朝に出る。"),
                    shape("第一部", place="title"),
                    f"<p:grpSp>{shape('組の中の文である。')}</p:grpSp>",
                    slide_table(["区分", "料金"], ["小型", "百円"]),
                    "<p:pic/>",
                    shape("1", place="sldNum"),
                ],
                notes=["ここで鐘を鳴らす。"],
            ),
            Slide([shape("隠れた文である。")], hidden=True),
            Slide([shape("題のない文である。")]),
        ]
    )


@pytest.mark.parametrize("data", [deck(), strict(deck())])
def test_slides_are_read_in_order(data, read_one) -> None:
    document = read_one("説明.pptx", data)
    assert document.text.split("\n") == [
        "第一部",
        "舟は、朝に出る。",
        "組の中の文である。",
        "区分\t料金",
        "区分：小型\t料金：百円",
        "ノート",
        "ここで鐘を鳴らす。",
        "スライド3",
        "題のない文である。",
        "",
    ]
    assert set(document.omissions) == {Omission("hidden slides"), Omission("pictures")}
    pages = {passage.text.split("\n")[0]: passage.locator.page for passage in document.passages}
    assert pages["題のない文である。"] == 3
    assert pages["ここで鐘を鳴らす。"] == 1


def test_breaks_in_a_paragraph_are_no_lines(read_one) -> None:
    box = shape("X").replace(
        "<a:r><a:t>X</a:t></a:r>",
        "<a:r><a:t>舟は、</a:t></a:r><a:br/><a:r><a:t>朝に出る。</a:t></a:r>",
    )
    assert "舟は、　朝に出る。" in read_one("a.pptx", pptx([Slide([box])])).text


def test_what_layout_and_master_show_is_read_once(read_one) -> None:
    prompt = shape("クリックして編集", place="body")
    data = pptx(
        [Slide([shape("舟は、朝に出る。")]), Slide([shape("夜は出ない。")])],
        layout=shape("案の段階である。") + prompt,
        master=shape("社外に出さない。") + shape("フッター", place="ftr"),
    )
    assert read_one("a.pptx", data).text.split("\n") == [
        "スライド1",
        "舟は、朝に出る。",
        "案の段階である。",
        "社外に出さない。",
        "スライド2",
        "夜は出ない。",
        "",
    ]


def test_a_presentation_without_text_names_what_it_has(read_failure) -> None:
    failure = read_failure("a.pptx", pptx([Slide(["<p:pic/>"])]))
    assert "no text" in failure.cause
    assert "1 picture" in failure.cause


@pytest.mark.parametrize(
    "data", [b"PK\x03\x04 and no more", pptx([Slide([shape("a")])]).replace(b"slide1", b"slide9")]
)
def test_a_damaged_presentation_is_told(data, read_failure) -> None:
    assert "damaged" in read_failure("a.pptx", data).cause


def test_deep_groups_are_refused(read_failure) -> None:
    deep = "<p:grpSp>" * 60 + shape("a") + "</p:grpSp>" * 60
    assert "damaged" in read_failure("a.pptx", pptx([Slide([deep])])).cause
