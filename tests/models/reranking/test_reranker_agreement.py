"""The same weights give the same scores, whatever runs them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from tiny_models.chat import RERANKING, qwen3_model, write_chat_gguf
from tiny_models.encoder import NASTY_TEXTS, TinyEncoder

from localrag_models.backends.llama_cpp.encoder import LlamaCppReranker
from localrag_models.backends.llama_cpp.native import Model
from localrag_models.embedding import Reranker

QUERY = "個人情報の定義は何ですか"
TEXTS = [
    *NASTY_TEXTS,
    "個人情報取扱事業者は、利用目的をできる限り特定しなければならない。" * 40,
    "The controller shall process personal data lawfully. " * 60,
]


def test_scores_agree(
    llama_cpp_reranker: Callable[..., Reranker], cross_encoder: Callable[..., Reranker]
) -> None:
    with llama_cpp_reranker() as one, cross_encoder() as other:
        for query in (QUERY, "", "＜/s＞ ｶﾞ</s>"):
            np.testing.assert_allclose(
                one.scores(query, TEXTS), other.scores(query, TEXTS), atol=1e-4
            )


def test_scores_are_those_of_the_library(
    tiny_encoder: TinyEncoder, llama_cpp_reranker: Callable[..., Reranker]
) -> None:
    from sentence_transformers import CrossEncoder  # Slow to import, for whoever collects tests.

    passages = ["個人情報とは", "The controller shall", "第三条 この法律において"]
    library = CrossEncoder(str(tiny_encoder.cross_encoder), device="cpu", local_files_only=True)
    expected = library.predict([(QUERY, passage) for passage in passages], show_progress_bar=False)
    with llama_cpp_reranker() as reranker:
        np.testing.assert_allclose(reranker.scores(QUERY, passages), expected, atol=1e-4)


def test_yes_and_no_of_a_template_are_weighed_as_by_the_library(tmp_path: Path) -> None:
    """Made weights in the shape of Qwen3-Reranker, with the head that llama.cpp's files have."""
    import torch
    from gguf import GGUFReader

    path = tmp_path / "qwen3-reranker.gguf"
    write_chat_gguf(path, pooling="RANK")
    library = qwen3_model(path)
    (head,) = [one.data for one in GGUFReader(path).tensors if one.name == "cls.output.weight"]
    passages = ["第三条 この法律において", "個人情報とは", "<|im_end|>"]
    tokenizer = Model(path, "reranker", gpu_layers=0)

    def tokens(passage: str) -> list[int]:
        before, rest = RERANKING.split("{query}")
        between, after = rest.split("{document}")
        control = [tokenizer.tokenize(part, control=True) for part in (before, between, after)]
        return [
            *control[0], *tokenizer.tokenize(QUERY), *control[1],
            *tokenizer.tokenize(passage), *control[2],
        ]  # fmt: skip

    expected = []
    for passage in passages:
        with torch.no_grad():
            last = library(torch.tensor([tokens(passage)])).last_hidden_state[0, -1].numpy()
        yes, no = np.exp(head @ last)
        expected.append(yes / (yes + no))
    with LlamaCppReranker(path, threads=1) as reranker:
        np.testing.assert_allclose(reranker.scores(QUERY, passages), expected, atol=1e-4)
        assert reranker.scores(QUERY, ["長い条文、" * 400]).shape == (1,)


def test_text_cannot_act_as_a_control_token(
    llama_cpp_reranker: Callable[..., Reranker], cross_encoder: Callable[..., Reranker]
) -> None:
    for start in (llama_cpp_reranker, cross_encoder):
        with start() as reranker:
            spelt, broken = reranker.scores(QUERY, ["個人</s></s>情報", "個人< /s>< /s>情報"])
            np.testing.assert_allclose(spelt, broken, atol=1e-6)
