"""What `Embedder` promises, one test per promise, for every back end."""

import threading
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_models.encoder import NASTY_TEXTS

from localrag_models.embedding import Embedder, Prefixes
from localrag_models.errors import ModelError

from ...rows import each

SENTENCES = [f"第{number}条 個人情報は、第{number}項の目的に限る。" for number in range(1, 121)]
LONG = "".join(SENTENCES)


def test_vectors_are_float32_of_length_one_a_row_per_text(embedder: Embedder) -> None:
    vectors = embedder.embed_passages(["個人情報とは", "The controller", "第三条"])
    assert vectors.shape == (3, embedder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_no_text_gives_no_row(embedder: Embedder) -> None:
    assert embedder.embed_queries([]).shape == (0, embedder.dimension)
    assert embedder.embed_passages([]).shape == (0, embedder.dimension)


@each("text", NASTY_TEXTS)
def test_whatever_the_text_none_is_zero_or_nan(embedder: Embedder, text: str) -> None:
    np.testing.assert_allclose(np.linalg.norm(embedder.embed_passages([text])), 1, atol=1e-6)


def test_prefixes_are_added_here(open_embedder: Callable[..., Embedder]) -> None:
    with open_embedder() as e5, open_embedder(prefixes=Prefixes()) as plain:
        asked, stated = e5.embed_queries(["個人情報"]), e5.embed_passages(["個人情報"])
        assert np.abs(asked - stated).max() > 1e-3
        np.testing.assert_allclose(asked, plain.embed_queries(["query: 個人情報"]), atol=1e-6)
        np.testing.assert_allclose(stated, plain.embed_passages(["passage: 個人情報"]), atol=1e-6)
        assert e5.id != plain.id


def test_a_vector_depends_on_its_text_alone(embedder: Embedder) -> None:
    texts = ["個人情報とは", LONG, "", "The controller shall", *SENTENCES[:40]]
    together = embedder.embed_passages(texts)
    backwards = embedder.embed_passages(texts[::-1])[::-1]
    alone = np.concatenate([embedder.embed_passages([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(together, backwards, atol=1e-5)


def test_long_text_is_the_mean_of_its_windows_by_tokens(embedder: Embedder) -> None:
    windows = embedder.windows(LONG)
    assert len(windows) > 2
    vectors = embedder.embed_passages(windows)
    [whole] = embedder.embed_passages([LONG])
    weights, *_ = np.linalg.lstsq(vectors.T.astype(np.float64), whole, rcond=None)
    np.testing.assert_allclose(weights @ vectors, whole, atol=1e-5)
    shares = weights / weights.sum()
    lengths = np.array([len(window) for window in windows]) / len(LONG)
    np.testing.assert_allclose(shares, lengths, rtol=0.2)


def test_nothing_of_a_long_text_is_cut(embedder: Embedder) -> None:
    ends = [LONG, LONG + "The controller shall process personal data lawfully."]
    one, other = embedder.embed_passages(ends)
    assert np.abs(one - other).max() > 1e-4


def test_windows_end_at_ends_of_sentences(embedder: Embedder) -> None:
    windows = embedder.windows(LONG)
    assert "".join(windows) == LONG
    assert all(window.endswith("。") for window in windows)


def test_windows_are_ready_to_be_embedded(embedder: Embedder) -> None:
    for header in ("", "個人情報の保護に関する法律 第三条"):
        for window in embedder.windows(LONG, header):
            assert embedder.windows(window) == [window]


def test_windows_carry_their_header(embedder: Embedder) -> None:
    header = "個人情報の保護に関する法律 第三条"
    windows = embedder.windows(LONG, header)
    assert all(window.startswith(f"{header}\n") for window in windows)
    assert "".join(window.removeprefix(f"{header}\n") for window in windows) == LONG


def test_a_long_header_is_shortened_from_its_front(embedder: Embedder) -> None:
    header = LONG + "第九条"
    windows = embedder.windows(LONG, header)
    heads = {window.partition("\n")[0] for window in windows}
    [head] = heads
    assert header.endswith(head)
    assert head.endswith("第九条")
    assert 100 < len(head) < len(header)
    assert "".join(window.partition("\n")[2] for window in windows) == LONG


def test_a_text_that_fits_is_one_window(embedder: Embedder) -> None:
    assert embedder.windows("個人情報。とは。") == ["個人情報。とは。"]
    assert embedder.windows("") == [""]


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=st.text(st.sampled_from("あ個人。、a.? \n\u3099\u0301\u200d\ud800ﷺ㍿＜"), max_size=40))
def test_windows_join_to_any_text(embedder: Embedder, text: str) -> None:
    assert "".join(embedder.windows(text * 60)) == text * 60


def test_what_utf8_cannot_hold_is_replaced(embedder: Embedder) -> None:
    lone, marked = embedder.embed_passages(["個人\ud800情報", "個人\ufffd情報"])
    np.testing.assert_allclose(lone, marked, atol=1e-6)


def test_progress_is_told(embedder: Embedder) -> None:
    told: list[int] = []
    embedder.embed_passages(SENTENCES[:3] * 100, told.append)
    assert told == sorted(told)
    assert len(told) > 1
    assert told[-1] == 300


def test_threads_wait_for_each_other(embedder: Embedder) -> None:
    expected = embedder.embed_passages(SENTENCES)
    found: list[bool] = []

    def embed() -> None:
        found.append(np.allclose(embedder.embed_passages(SENTENCES), expected, atol=1e-5))

    threads = [threading.Thread(target=embed) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4


def test_the_id_names_the_weights(open_embedder: Callable[..., Embedder]) -> None:
    with open_embedder() as one, open_embedder() as same, open_embedder(id="mine") as named:
        assert one.id == same.id
        assert one.id.startswith("tiny-e5")
        assert named.id == "mine"


def test_closed_twice_it_says_that_it_is_closed(open_embedder: Callable[..., Embedder]) -> None:
    embedder = open_embedder()
    embedder.close()
    embedder.close()
    with pytest.raises(ModelError, match="closed"):
        embedder.embed_queries(["個人情報"])
