"""The options that `eval` and `optimize` share: which questions, and the corpus they are about."""

from pathlib import Path
from typing import Annotated

import typer

from localrag.cli.session import complete_corpus

DatasetName = Annotated[
    str,
    typer.Argument(
        metavar="DATASET",
        help="Name of a dataset (localrag data list), or the path of questions of your own "
        "(.jsonl, .json) or of a declaration (.toml).",
        show_default=False,
    ),
]
SplitName = Annotated[
    str, typer.Option("--split", metavar="NAME", help="Split; without it, the first at hand.")
]
QuestionsFile = Annotated[
    Path | None,
    typer.Option(
        "--questions",
        metavar="FILE",
        help="Questions of your own, in the dataset's format, to be read instead of its own; its "
        "published figures are not set beside them.",
    ),
]
CorpusSearched = Annotated[
    str,
    typer.Option(
        "--corpus",
        "-c",
        metavar="NAME",
        help="Corpus to search; without it, the one of the dataset, or the setting 'corpus'.",
        autocompletion=complete_corpus,
        show_default=False,
    ),
]
