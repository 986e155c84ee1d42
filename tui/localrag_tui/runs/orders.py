"""What is to be run: a batch or an evaluation, as it is handed to the process that runs it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class BatchOrder:
    """A batch.

    Attributes:
        home: of the workspace.
        overrides: settings, by dotted key.
        questions, out: the tables, absolute.
        concurrency: questions at the same time; 0 for what the settings say.
        retry_failed: whether failed rows are asked again.
    """

    home: Path
    corpus: str
    overrides: Mapping[str, object]
    questions: Path
    out: Path
    concurrency: int = 0
    retry_failed: bool = False

    @property
    def key(self) -> str:
        """What tells it from other runs; see `Line`."""
        return str(self.out)


@dataclass(frozen=True)
class EvaluationOrder:
    """An evaluation.

    Attributes:
        home: of the workspace.
        overrides: settings, by dotted key.
        dataset: a name, or the path of a file of questions.
        split: "" for the first that is at hand.
        corpus: what is searched; "" for that of the dataset, else the usual one.
        methods: their names.
        models: chat models; none for that of the settings.
        stages: orders of stages; none for that of the settings.
        judge: "" for none.
        orders: of the options.
        limit: questions, from the first; 0 for all.
        run: its name; "" for that of the run that asks the same, else the time.
        folder: where it lies, of one that was begun.
        retry_failed: whether failed questions are asked again.
    """

    home: Path
    overrides: Mapping[str, object]
    dataset: str
    methods: tuple[str, ...]
    split: str = ""
    corpus: str = ""
    models: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    judge: str = ""
    orders: int = 1
    limit: int = 0
    run: str = ""
    folder: str = ""
    retry_failed: bool = False

    @property
    def key(self) -> str:
        """As for `BatchOrder`; "" of one that has no folder yet."""
        return self.folder
