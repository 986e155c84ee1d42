from localrag.methods.comparison.values import Address, part_of, read_place

from ....rows import each


def place(text: str) -> Address:
    read_as = read_place(text, "所在地")
    assert read_as is not None
    return read_as


@each(
    ("text", "parts"),
    [
        ("東京都新宿区", ("東京都", "新宿区")),
        ("千葉市中央区", ("千葉市", "中央区")),
        ("三重県四日市市", ("三重県", "四日市市")),
        ("千葉県市川市市川1-1", ("千葉県", "市川市", "市川1-1")),
        ("奈良県大和郡山市", ("奈良県", "大和郡山市")),
        ("北海道余市郡余市町", ("北海道", "余市郡", "余市町")),
        ("新潟県十日町市", ("新潟県", "十日町市")),
        ("東京都町田市（本社）", ("東京都", "町田市")),
        ("日本・長野県中部", ("長野県", "中部")),
        ("東京", ("東京都",)),
        ("スイス・ベルン", ("スイス", "ベルン")),
    ],
)
def test_addresses_are_taken_apart(text: str, parts: tuple[str, ...]) -> None:
    assert place(text).parts == parts


@each(
    ("inner", "outer", "holds"),
    [
        ("東京都新宿区", "東京都", True),
        ("東京都新宿区", "新宿区", True),
        ("東京都新宿区", "日本", True),
        ("千葉市中央区", "千葉県", True),
        ("千葉市中央区", "千葉市", True),
        ("兵庫県神戸市", "関西地方", True),
        ("東京府東京市麹町区", "東京都", True),
        ("スイス・ベルン", "スイス", True),
        ("大阪府", "東京都", False),
        ("島根県松江市", "九州", False),
        ("東京都", "新宿区", None),
        ("スイス", "日本", None),
    ],
)
def test_what_lies_in_what(inner: str, outer: str, holds: bool | None) -> None:
    assert place(inner).within(place(outer)) is holds


def test_only_a_predicate_of_place_makes_a_name_a_place() -> None:
    assert read_place("稲村", "監督") is None
    assert read_place("稲村", "出身地") is not None
    assert read_place("東京都", "監督") is not None
    assert read_place("石川県知事", "職歴") is None


def test_a_part_of_an_address() -> None:
    assert part_of("東京都小金井市梶野町", "city") == "小金井市"
    assert part_of("東京都", "city") is None


@each("text", ["", "()", "市" * 10_000, "県市区町村" * 100, "、、、"])
def test_what_is_no_place_breaks_nothing(text: str) -> None:
    read_as = read_place(text, "所在地")
    assert read_as is None or read_as.parts
