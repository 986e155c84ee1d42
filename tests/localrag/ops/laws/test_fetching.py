"""Fetching laws: continued, checked, polite, with every failure told."""

import resource
import shutil
import ssl
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from ipaddress import ip_address
from pathlib import Path

import pytest
from fake_egov import FakeEGov

from localrag.corpus.config import LawsConfig
from localrag.errors import BusyError, ConfigError, InputError, NotFoundError, StorageError
from localrag.ops.laws.egov import EGov
from localrag.ops.laws.getting import Fetched, fetch, plan, since, states_of
from localrag.ops.laws.shelf import Kept, Shelf, through, today
from localrag.ops.laws.types import ALL, Archive
from localrag.text.progress import Progress

from .conftest import day, state

Configured = Callable[..., LawsConfig]
WHOLE = [Archive(ALL)]
ADDRESS = "/bulkdownload?file_section=1&only_xml_flag=true"


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "laws")


def get(settings: LawsConfig, shelf: Shelf, *laws: str, form: str = "xml") -> Fetched:
    fetched = Fetched()
    with EGov(settings, sleep=lambda _: None) as egov:
        named = states_of(egov, shelf, laws, form, fetched, history=False)
        return fetch(egov, shelf, named or WHOLE, fetched)


def test_the_archive_is_fetched_once_a_day(
    egov: FakeEGov, configured: Configured, shelf: Shelf
) -> None:
    told: list[object] = []
    with EGov(configured()) as asked:
        fetch(asked, shelf, WHOLE, Fetched(), told.append)
    assert egov.asked == [f"GET {ADDRESS}"]
    assert egov.headers[0]["user-agent"].startswith("localrag/")
    assert {one.phase.name for one in told if isinstance(one, Progress)} == {"fetching", "checking"}
    again = get(configured(), shelf)
    assert [(one.scope, one.laws) for one in again.unchanged] == [(ALL, 4)]
    assert (again.new, len(egov.asked)) == ([], 1)
    with zipfile.ZipFile(shelf.folder / "all_xml.zip") as archive:
        assert len(archive.namelist()) == 5


@pytest.mark.parametrize("ranges", [False, True])
def test_a_cut_transfer_goes_on(
    egov: FakeEGov, configured: Configured, shelf: Shelf, ranges: bool
) -> None:
    egov.ranges = ranges
    egov.drops = [500, 700, 900]
    assert get(configured(), shelf).new[0].laws == 4
    size = (shelf.folder / "all_xml.zip").stat().st_size
    sums = {True: size, False: 500 + 700 + 900 + size}
    assert egov.sent == sums[ranges]


def test_what_a_killed_process_left_is_used(
    egov: FakeEGov, configured: Configured, shelf: Shelf
) -> None:
    egov.ranges, egov.drops = True, [500, 0]
    with pytest.raises(InputError, match="cannot be fetched") as caught:
        get(configured(tries=1), shelf)
    assert "laws import" in caught.value.cure
    get(configured(), shelf)
    assert egov.headers[-1]["range"] == "bytes=500-"
    # Whole, but neither checked, named nor listed.
    whole = shelf.folder / "all_xml.zip"
    (shelf.folder / ".laws.jsonl").write_text('{"scope": "all", "file"')
    asked = len(egov.asked)
    assert get(configured(), shelf).files[0].laws == 4
    (shelf.folder / ".laws.jsonl").unlink()
    whole.rename(shelf.folder / ".part-all_xml.zip")
    assert get(configured(), shelf).files[0].laws == 4
    assert len(egov.asked) == asked


def test_two_states_of_an_archive_are_not_joined(
    egov: FakeEGov, configured: Configured, shelf: Shelf
) -> None:
    egov.ranges, egov.drops = True, [500, 0]
    with pytest.raises(InputError):
        get(configured(tries=1), shelf)
    egov.states.append(state(4, "凧法"))
    egov.changed()
    (shelf.folder / ".part-all_xml.zip.tag").unlink()
    assert get(configured(), shelf).new[0].laws == 5


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_refusal_is_tried_again(
    egov: FakeEGov, configured: Configured, shelf: Shelf, status: int
) -> None:
    waited: list[float] = []
    egov.statuses, egov.retry_after = [status, status], "7"
    with EGov(configured(), sleep=waited.append) as asked:
        fetch(asked, shelf, WHOLE, Fetched())
    assert waited == [7.0, 7.0]
    egov.statuses = [status] * 9
    shutil.rmtree(shelf.folder)
    with pytest.raises(InputError, match=f"status {status}") as caught:
        get(configured(tries=3), shelf)
    assert "laws.pause" in caught.value.cure
    assert len(egov.statuses) == 6


def test_the_server_says_how_long_to_wait(
    egov: FakeEGov, configured: Configured, shelf: Shelf
) -> None:
    egov.statuses, egov.retry_after = [429], "3600"
    with pytest.raises(InputError, match="pause of 3,600 seconds"):
        get(configured(), shelf)
    waited: list[float] = []
    until = datetime.now(UTC) + timedelta(seconds=300)
    egov.statuses, egov.retry_after = [503], format_datetime(until, usegmt=True)
    with EGov(configured(), sleep=waited.append) as asked:
        fetch(asked, shelf, WHOLE, Fetched())
    assert len(waited) == 1
    assert 0 < waited[0] <= 300


def test_requests_come_one_by_one_with_a_pause(
    egov: FakeEGov, configured: Configured, shelf: Shelf
) -> None:
    waited: list[float] = []
    with EGov(configured(pause=60), sleep=waited.append) as asked:
        fetched = Fetched()
        texts = states_of(asked, shelf, ["風車法", "水法"], "xml", fetched, history=False)
        fetch(asked, shelf, texts, fetched)
    assert len(egov.asked) == 6
    assert len([one for one in waited if 0 < one <= 60]) == 5
    assert egov.together == 1


@pytest.mark.parametrize(
    ("status", "cause", "cure"),
    [(404, "There is nothing", "laws.archive"), (403, "refuses", "laws import")],
)
def test_other_refusals_are_told_at_once(
    egov: FakeEGov, configured: Configured, shelf: Shelf, status: int, cause: str, cure: str
) -> None:
    egov.statuses = [status]
    with pytest.raises(InputError, match=cause) as caught:
        get(configured(), shelf)
    assert cure in caught.value.cure
    assert len(egov.asked) == 1


def test_something_else_than_a_zip_is_refused(
    egov: FakeEGov, configured: Configured, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(egov, "archive", lambda _: b"<html>maintenance</html>")
    with pytest.raises(InputError, match="did not send a zip") as caught:
        get(configured(), shelf)
    assert "laws.archive" in caught.value.cure
    assert not list(shelf.folder.glob("*.zip"))


def test_a_damaged_archive_is_fetched_once_more_and_refused(
    egov: FakeEGov, configured: Configured, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bytearray(egov.archive({"file_section": "1"}) or b"")
    made[300] ^= 255
    monkeypatch.setattr(egov, "archive", lambda _: bytes(made))
    with pytest.raises(InputError, match="is damaged"):
        get(configured(), shelf)
    assert len(egov.asked) == 2
    assert not list(shelf.folder.glob("*.zip"))


def test_a_full_disk_is_told(egov: FakeEGov, configured: Configured, shelf: Shelf) -> None:
    egov.ranges = True
    with room_for(700), pytest.raises(StorageError, match=r"part-all_xml\.zip cannot be written"):
        get(configured(), shelf)
    get(configured(), shelf)
    assert egov.headers[-1]["range"] == "bytes=700-"


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file grows beyond this many bytes, as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_slow_server_is_told(egov: FakeEGov, configured: Configured, shelf: Shelf) -> None:
    egov.delay = 0.5
    with pytest.raises(InputError, match=r"no sign of life for 0\.01 seconds") as caught:
        get(configured(timeout=0.01, tries=1), shelf)
    assert "laws.timeout" in caught.value.cure


def test_a_proxy_is_used_and_named(
    egov: FakeEGov, configured: Configured, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxied = configured(archive="https://laws.example/bulkdownload", proxy=egov.address)
    with pytest.raises(InputError, match="proxy") as caught:
        get(proxied, shelf)
    assert "laws.proxy" in caught.value.cure
    assert egov.address in caught.value.cause
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    with pytest.raises(InputError, match=r"http://127\.0\.0\.1:1") as caught:
        get(configured(archive="https://laws.example/bulkdownload", tries=1), shelf)
    assert "HTTPS_PROXY" in caught.value.cure
    with pytest.raises(ConfigError, match="proxy"), EGov(configured(proxy="ftp://x")):
        pass


def test_a_certificate_is_checked(
    egov: FakeEGov, configured: Configured, shelf: Shelf, tmp_path: Path
) -> None:
    certificate = self_signed(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    safe = FakeEGov(egov.states)
    with safe.serving(context):
        address = f"{safe.address}/bulkdownload"
        with pytest.raises(InputError, match="is not trusted") as caught:
            get(configured(archive=address), shelf)
        assert "laws.certificates" in caught.value.cure
        fetched = get(configured(archive=address, certificates=str(certificate)), shelf)
        assert fetched.new[0].laws == 4
    with (
        pytest.raises(ConfigError, match=r"missing\.pem"),
        EGov(configured(certificates=str(tmp_path / "missing.pem"))),
    ):
        pass


def self_signed(folder: Path) -> Path:
    """A certificate of this machine without a signature of others, with its key."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    here = x509.IPAddress(ip_address("127.0.0.1"))
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(1))
        .not_valid_after(now + timedelta(1))
        .add_extension(x509.SubjectAlternativeName([here]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = folder / "server.pem"
    path.write_bytes(secret + made.public_bytes(pem))
    return path


@pytest.mark.parametrize("key", ["archive", "api"])
def test_addresses_are_of_https(configured: Configured, key: str) -> None:
    with (
        pytest.raises(ConfigError, match=f"laws.{key} is no address of https"),
        EGov(configured(**{key: "http://laws.example"})),
    ):
        pass


def test_no_redirect_leaves_https(egov: FakeEGov, configured: Configured, shelf: Shelf) -> None:
    egov.location = "http://laws.example/"
    with pytest.raises(InputError, match="without https"):
        get(configured(), shelf)


@pytest.mark.parametrize("form", ["xml", "json"])
def test_laws_are_fetched_by_id_number_and_title(
    egov: FakeEGov, configured: Configured, shelf: Shelf, form: str
) -> None:
    names = ["598AC0000000001", "令和九十八年法律第二号", "帆船法", "砂丘法", "車法"]
    fetched = get(configured(), shelf, *names, form=form)
    files = [one.file for one in fetched.new]
    assert files == [
        f"598AC0000000001_20200401_000000000000000.{form}",
        f"598AC0000000002_20200401_000000000000000.{form}",
        f"598AC0000000003_21000401_509AC0000000009.{form}",
        f"598AC0000000003_20200401_000000000000000.{form}",
    ]
    assert [name for name, _ in fetched.failed] == ["砂丘法", "車法"]
    assert "風車法 (598AC0000000001)" in fetched.failed[1][1].cure
    assert isinstance(fetched.failed[0][1], NotFoundError)
    asked = [one for one in egov.asked if "law_data" in one]
    assert get(configured(), shelf, "帆船法", form=form).new == []
    assert [one for one in egov.asked if "law_data" in one] == asked


def test_a_text_that_cannot_be_read_costs_only_itself(
    egov: FakeEGov, configured: Configured, shelf: Shelf
) -> None:
    # The codes of ministries have letters, too.
    egov.states += [
        replace(egov.states[0], id="598M50010D40003_20200401_000000000000000", num="砂丘令"),
        replace(egov.states[0], id="598AC0000000008_20200401_000000000000000", xml=b"<Law/>"),
    ]
    fetched = get(configured(), shelf, "598AC0000000008", "598M50010D40003")
    assert [one.file for one in fetched.new] == ["598M50010D40003_20200401_000000000000000.xml"]
    assert [name for name, _ in fetched.failed] == ["598AC0000000008_20200401_000000000000000.xml"]
    assert not list(shelf.folder.glob(".part*"))


def test_the_plan_says_what_would_come(
    egov: FakeEGov, configured: Configured, shelf: Shelf
) -> None:
    with EGov(configured()) as asked:
        assert [(one.file, one.size, one.is_here) for one in plan(asked, shelf, WHOLE)] == [
            ("all_xml.zip", None, False)
        ]
        egov.ranges = True
        assert (plan(asked, shelf, WHOLE)[0].size or 0) > 1_000
        assert not shelf.folder.exists()
        fetch(asked, shelf, WHOLE, Fetched())
        assert plan(asked, shelf, WHOLE)[0].is_here


def test_the_days_since_are_asked_for(egov: FakeEGov, configured: Configured, shelf: Shelf) -> None:
    whole = Kept(ALL, "all_xml.zip", fetched=f"{today() - timedelta(3)}T03:00:00+00:00")
    egov.days = {day(1): [egov.states[0].id]}
    fetched = Fetched()
    with EGov(configured()) as asked:
        items = since([whole], asked, shelf, "xml", fetched)
        assert [one.file for one in items] == [f"{day(n)}_xml.zip" for n in (4, 3, 2, 1)]
        fetch(asked, shelf, items, fetched)
        assert [one.laws for one in fetched.new] == [1]
        assert fetched.no_change == [(today() - timedelta(n)).isoformat() for n in (4, 3, 2)]
        known = [whole, *fetched.taken]
        assert through(known) == today() - timedelta(1)
        # A failing server looks the same: such days are asked for once more.
        again = since(known, asked, shelf, "xml", Fetched())
        assert [one.file for one in again] == [f"{day(n)}_xml.zip" for n in (4, 3, 2)]
        more = fetch(asked, shelf, again, Fetched())
        assert since([*known[:2], *more.taken], asked, shelf, "xml", Fetched()) == []
        old = Kept(ALL, "all_xml.zip", fetched=f"{today() - timedelta(120)}T03:00:00+00:00")
        assert since([old], asked, shelf, "xml", Fetched()) == WHOLE


def test_one_process_fetches_into_a_folder(
    egov: FakeEGov, configured: Configured, shelf: Shelf
) -> None:
    with shelf.held(), pytest.raises(BusyError):
        get(configured(), Shelf(shelf.folder))
