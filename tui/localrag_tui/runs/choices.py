"""What can be chosen for a run: corpora, methods, models, datasets."""

from dataclasses import dataclass

from localrag.config import Config
from localrag.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Choices:
    """What there is.

    Attributes:
        methods: what each does, by name.
        models: chat models that are installed, with that of the settings.
        datasets: names of those that can be named, with their splits that are at hand.
    """

    corpora: tuple[str, ...]
    methods: dict[str, str]
    models: tuple[str, ...]
    datasets: dict[str, tuple[str, ...]]


def choices(workspace: Workspace, config: Config) -> Choices:
    """Look up what there is; in a thread."""
    from localrag.evaluation.datasets.loading import find, known, splits_at_hand
    from localrag.methods.catalogue import NAMES, method
    from localrag_models.store import ModelStore

    installed = ModelStore(workspace.models).installed()
    models = [model.name for model in installed if model.kind == "chat"]
    datasets = {}
    for dataset in known(workspace):
        found = find(workspace, dataset.name)
        splits = splits_at_hand(found.dataset, found.folder)
        datasets[dataset.name] = tuple(split.name for split in splits)
    return Choices(
        tuple(workspace.corpora()),
        {name: method(name).about for name in NAMES},
        tuple(dict.fromkeys([*models, *filter(None, [config.chat.model])])),
        datasets,
    )
