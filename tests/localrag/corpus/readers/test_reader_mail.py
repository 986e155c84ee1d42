"""Messages: headers, bodies in every charset, and attachments as documents of their own."""

import io
import zipfile
from email.message import EmailMessage
from pathlib import Path

import compressed_rtf
import pytest
from bench.office_files import msg
from PIL import Image

from localrag.corpus.readers import Omission, PassedOver, ReadFailure, stream
from localrag.corpus.types import Document

BODY = "渡し舟は、朝六時に出る。\n予約は要らない。\n"


def mail(body: str = BODY, **how: str) -> EmailMessage:
    made = EmailMessage()
    made["From"] = "管理者 <kanri@example.jp>"
    made["To"] = "利用者 <riyo@example.jp>"
    made["Cc"] = "控え <hikae@example.jp>"
    made["Date"] = "Wed, 01 Apr 2026 09:00:00 +0900"
    made["Subject"] = "舟の時刻"
    made.set_content(body, **how)
    return made


def raw(head: bytes, body: bytes) -> bytes:
    return b"From: a@example.jp\nSubject: s\nMIME-Version: 1.0\n" + head + b"\n\n" + body


def all_of(tmp_path: Path, name: str, data: bytes) -> list[Document | ReadFailure | Omission]:
    (tmp_path / name).write_bytes(data)
    return list(stream(tmp_path / name))


def test_headers_and_body(read_one) -> None:
    document = read_one("a.eml", mail().as_bytes())
    assert (document.kind, document.title) == ("eml", "舟の時刻")
    assert document.text == (
        "From: 管理者 <kanri@example.jp>\nTo: 利用者 <riyo@example.jp>\n"
        "Cc: 控え <hikae@example.jp>\nDate: Wed, 01 Apr 2026 09:00:00 +0900\n"
        f"Subject: 舟の時刻\n\n{BODY}"
    )


@pytest.mark.parametrize(
    ("charset", "cte"),
    [
        ("utf-8", "quoted-printable"),
        ("utf-8", "base64"),
        ("iso-2022-jp", "7bit"),
        ("shift_jis", "base64"),
        ("euc-jp", "8bit"),
    ],
)
def test_every_charset(charset, cte, read_one) -> None:
    assert BODY in read_one("a.eml", mail(charset=charset, cte=cte).as_bytes()).text


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Type: text/plain; charset=iso-2022-jp",
        b"Content-Type: text/plain; charset=us-ascii",
        b"X-Mailer: none",
    ],
)
def test_characters_of_windows_in_jis(head, read_one) -> None:
    jis = b"\x1b$B-!3t<02q<R\x1b(B \x1b$B-j\x1b(B\n"  # ①株式会社 ㈱
    assert "①株式会社 ㈱" in read_one("a.eml", raw(head, jis)).text


def test_a_charset_that_lies_is_not_believed(read_one) -> None:
    head = b"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit"
    assert BODY in read_one("a.eml", raw(head, BODY.encode("cp932"))).text


def test_utf_7_is_named_and_not_read(read_one) -> None:
    document = read_one(
        "a.eml", raw(b"Content-Type: text/plain; charset=utf-7", b"+ADw-script+AD4-")
    )
    assert "script" not in document.text
    assert document.omissions == (Omission("bodies of messages in an unknown encoding"),)


def test_headers_without_an_encoding(read_one) -> None:
    data = "Subject: 舟の時刻\nFrom: 管理者\n\n舟は出る。\n".encode("cp932")
    assert read_one("a.eml", data).title == "舟の時刻"


def test_flowed_lines_are_joined(read_one) -> None:
    head = b"Content-Type: text/plain; charset=utf-8; format=flowed; delsp=yes"
    body = "渡し舟は、 \n朝六時に出る。\n> 前の \n> 文である。\n"
    text = read_one("a.eml", raw(head, body.encode())).text
    assert "渡し舟は、朝六時に出る。\n> 前の文である。\n" in text


def test_hard_wrapped_lines_are_joined(read_one) -> None:
    wrapped = "その後の渡し舟の運航については、管理者が別に定めるところによるものとし、利用\n"
    wrapped += "者に対しては、桟橋の掲示板により、運航の三日前までに知らせるものとするので、\n"
    wrapped += "利用者は、これを確かめること。\n"
    text = read_one("a.eml", mail(wrapped).as_bytes()).text
    assert "利用者に対しては" in text


@pytest.mark.parametrize(
    ("plain", "page", "body"),
    [
        (
            "利用料は\n* 月額9,000円です。 <https://example.jp/a>",
            "<p>利用料は<ul><li><b>月額9,000円</b>です。",
            "利用料は\n* 月額9,000円です。 <https://example.jp/a>",
        ),
        (
            "利用料を改定します。",
            "<p>利用料を改定します。<table><tr><td>月額<td>9,000円</table>",
            "利用料を改定します。\n月額\t9,000円",
        ),
        (
            "HTMLで表示してください。",
            "<p>利用料を改定します。",
            "HTMLで表示してください。\n\n利用料を改定します。",
        ),
        (
            "期限は15日です。\n変更不可\n詳細は別紙。",
            "<p>期限は15日です。<p>5日<p>可",
            "期限は15日です。\n変更不可\n詳細は別紙。\n\n5日\n可",
        ),
        ("月額\n8,000円", "<p>月額 9,000円", "月額\n8,000円\n\n月額 9,000円"),
    ],
)
def test_the_form_that_says_more_is_read(plain, page, body, read_one) -> None:
    made = mail(plain)
    made.add_alternative(page, subtype="html")
    assert read_one("a.eml", made.as_bytes()).text.split("\n\n", 1)[1].rstrip("\n") == body


@pytest.mark.parametrize(
    ("page", "more"),
    [("<p>利用料は<b>月額</b>です。<p>9,000円", "\n9,000円"), ("<p>利用料は月額です。", "")],
)
def test_the_fuller_form_of_a_message_of_outlook_is_read(page, more, tmp_path: Path) -> None:
    data = msg("題", "利用料は月額です。", page=page, code_page=932)
    (message,) = all_of(tmp_path, "a.msg", data)
    assert isinstance(message, Document)
    assert message.text.split("\n\n", 1)[1].rstrip("\n") == f"利用料は月額です。{more}"


def test_a_page_beside_its_pictures_is_compared_too(read_one) -> None:
    made = mail("利用料を改定します。")
    made.add_alternative("<p>利用料を改定します。<p>月額9,000円", subtype="html")
    made.get_payload()[1].add_related(b"GIF89a", "image", "gif", cid="<logo>")
    assert "月額9,000円" in read_one("a.eml", made.as_bytes()).text


def test_a_form_that_is_no_text_of_the_body_is_named(tmp_path: Path) -> None:
    made = mail("会議を開きます。")
    made.add_alternative("BEGIN:VCALENDAR\nEND:VCALENDAR\n", subtype="calendar")
    (_message, calendar) = all_of(tmp_path, "a.eml", made.as_bytes())
    assert isinstance(calendar, PassedOver)
    assert calendar.suffix == ".ics"


def picture(width: int, height: int, kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    Image.new("L", (width, height), 255).save(out, kind)
    return out.getvalue()


@pytest.mark.parametrize(
    "content",
    [picture(1, 1, "GIF"), picture(600, 31), picture(99, 99, "JPEG"), picture(20, 20, "BMP")],
)
@pytest.mark.parametrize("name", ["a.eml", "a.msg"])
def test_small_pictures_are_counted_and_not_read(name, content, tmp_path: Path) -> None:
    made = mail()
    for number in (1, 2):
        made.add_attachment(content, "image", "png", filename=f"{number}.png")
    of_outlook = msg("題", BODY, attachments={"1.png": content, "2.png": content})
    data = made.as_bytes() if name == "a.eml" else of_outlook
    (message, counted) = all_of(tmp_path, name, data)
    assert isinstance(message, Document)
    assert counted == Omission("small pictures (logos, icons)", 2)


@pytest.mark.parametrize("size", [(100, 40), (2480, 3508), (11_000, 9_000)])
def test_larger_pictures_are_named_one_by_one(size, tmp_path: Path) -> None:
    made = mail()
    made.add_attachment(picture(*size), "image", "png", filename="頁.png")
    (_message, page) = all_of(tmp_path, "a.eml", made.as_bytes())
    assert isinstance(page, PassedOver | ReadFailure)


def test_a_page_is_read_where_there_is_no_text(read_one) -> None:
    page = '<meta charset="iso-2022-jp"><p>頁の文である。</p><script>x</script>'
    made = mail(page, subtype="html", charset="utf-8")
    text = read_one("a.eml", made.as_bytes()).text
    assert "頁の文である。" in text
    assert "script" not in text


def test_attachments_are_documents_of_their_own(tmp_path: Path) -> None:
    made = mail()
    made.add_attachment("別紙の文。".encode("cp932"), "text", "plain", filename="別紙.txt")
    made.add_attachment("また別紙の文。".encode(), "text", "plain", filename="別紙.txt")
    made.add_attachment(b"AC1032", "image", "vnd.dwg", filename="図.dwg")
    made.add_attachment(b"\xd0\xcf\x11\xe0", "application", "msword", filename="../x\n\u202e.doc")
    inner = EmailMessage()
    inner["From"], inner["Subject"] = "b@example.jp", "別件"
    inner.set_content("別件の文である。")
    made.add_attachment(inner)
    found = all_of(tmp_path, "a.eml", made.as_bytes())
    texts = {one.id: one.text for one in found if isinstance(one, Document)}
    assert list(texts) == ["a.eml", "a.eml!別件.eml", "a.eml!別紙.txt", "a.eml!別紙 (2).txt"]
    assert texts["a.eml!別紙.txt"] == "別紙の文。"
    assert "別件の文である。" in texts["a.eml!別件.eml"]
    picture, letter = [one for one in found if isinstance(one, PassedOver)]
    assert (picture.source, picture.suffix) == ("a.eml!図.dwg", ".dwg")
    assert (letter.source, letter.suffix) == ("a.eml!x␊<U+202E>.doc", ".doc")
    assert "--convert" in letter.cure


@pytest.mark.parametrize(
    "disposition",
    [
        b"filename*=utf-8''%E5%88%A5%E7%B4%99.txt",
        b"filename*0*=iso-2022-jp''%1B$BJL; filename*1*=%3bf%1B(B.txt",
        b'filename="=?utf-8?B?5Yil57SZLnR4dA==?="',
        'filename="別紙.txt"'.encode("cp932"),
    ],
)
def test_names_of_attachments(disposition, tmp_path: Path) -> None:
    data = raw(
        b"Content-Type: text/plain; charset=utf-8\nContent-Disposition: attachment; " + disposition,
        "別紙の文。".encode(),
    )
    documents = [one for one in all_of(tmp_path, "a.eml", data) if isinstance(one, Document)]
    assert [one.id for one in documents] == ["a.eml", "a.eml!別紙.txt"]


def test_a_zip_that_is_attached_is_read(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("b.txt", "中の文。")
    made = mail()
    made.add_attachment(packed.getvalue(), "application", "zip", filename="c.zip")
    found = all_of(tmp_path, "a.eml", made.as_bytes())
    assert [one.id for one in found if isinstance(one, Document)] == ["a.eml", "a.eml!c.zip!b.txt"]


@pytest.mark.parametrize("kind", [b"application/pkcs7-mime", b"multipart/encrypted; boundary=x"])
def test_sealed_bodies_are_named(kind, read_one) -> None:
    document = read_one("a.eml", raw(b"Content-Type: " + kind, b"MIIB"))
    assert document.omissions == (Omission("encrypted or sealed bodies of messages"),)
    assert document.text == "From: a@example.jp\nSubject: s\n"


def test_messages_in_messages_end(tmp_path: Path) -> None:
    made = mail()
    for number in range(9):
        outer = EmailMessage()
        outer["From"], outer["Subject"] = "a@example.jp", f"段{number}"
        outer.set_content(f"段{number}の文である。")
        outer.add_attachment(made)
        made = outer
    found = all_of(tmp_path, "a.eml", made.as_bytes())
    assert sum(isinstance(one, Document) for one in found) == 6
    assert Omission("messages inside more than five others") in found


def test_a_file_without_headers_is_no_message(read_failure) -> None:
    assert "no headers" in read_failure("a.eml", "ただの文である。\n").cause


def test_many_parts_are_refused(read_failure) -> None:
    data = raw(b"Content-Type: multipart/mixed; boundary=b", b"--b\n\n" * 300_000)
    assert "memory" in read_failure("a.eml", data).cause


@pytest.mark.parametrize("code_page", [0, 932])
def test_messages_of_outlook(code_page, tmp_path: Path) -> None:
    pytest.importorskip("olefile")
    data = msg(
        "舟の時刻",
        BODY.replace("\n", "\r\n"),
        copies="控え",
        code_page=code_page,
        attachments={"別紙.txt": "別紙の文。".encode()},
    )
    document, attached = all_of(tmp_path, "a.msg", data)
    assert isinstance(document, Document)
    assert (document.kind, document.title) == ("msg", "舟の時刻")
    assert document.text == (
        "From: 管理者\nTo: 利用者\nCc: 控え\nDate: Wed, 01 Apr 2026 00:00:00 +0000\n"
        f"Subject: 舟の時刻\n\n{BODY}"
    )
    assert isinstance(attached, Document)
    assert (attached.id, attached.text) == ("a.msg!別紙.txt", "別紙の文。")


@pytest.mark.parametrize("data", [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", msg("s", "b")[:900]])
def test_a_damaged_message_of_outlook_is_told(data, read_failure) -> None:
    pytest.importorskip("olefile")
    assert "damaged" in read_failure("a.msg", data).cause


def test_a_body_in_rtf_alone(tmp_path: Path) -> None:
    """Bytes are written by number; the second one of ア, ソ and 表 is a letter or an escape."""
    words = "アイソトープの表を予定どおり出す。"
    coded = "".join(
        f"\\'{lead:02x}" + (f"\\{chr(second)}" if chr(second) in "\\{}" else chr(second))
        if 0x40 <= second < 0x7F
        else f"\\'{lead:02x}\\'{second:02x}"
        for lead, second in (sign.encode("cp932") for sign in words)
    )
    page = (
        r"{\rtf1\ansi\ansicpg932\fromhtml1 {\fonttbl{\f0\fnil\fcharset128 MS Gothic;}}"
        rf"{{\*\htmltag64 <p>}}\f0 {coded}\par \u33311?\u12399?\u20986?\u12427?\u12290?}}"
    )
    rtf = compressed_rtf.compress(page.encode("ascii"))
    (document,) = all_of(tmp_path, "a.msg", msg("題", "", rtf=rtf))
    assert isinstance(document, Document)
    assert f"{words}\n舟は出る。" in document.text

    (cut, named) = all_of(tmp_path, "b.msg", msg("題", "", rtf=rtf[:40]))
    assert named == Omission("bodies of messages in RTF alone")
    assert isinstance(cut, Document)
