"""The folder a model lies in: which files have to be there, and what they may hold."""

import json
from pathlib import Path
from typing import Any

from localrag_models.errors import ModelDamaged, ModelMissing, WrongKind

_AGAIN = "Get it again: `localrag models pull NAME`."
_PICKLES = frozenset({".bin", ".pt", ".pth", ".pkl", ".ckpt"})
_TRUSTED = "sentence_transformers."


def read_config(folder: Path) -> dict[str, Any]:
    """The settings in the ``config.json`` of a model whose tokenizer and weights are there too.

    Raises:
        ModelMissing: there is no such folder.
        WrongKind: it holds no model in this format.
        ModelDamaged: a file is missing or unreadable, or could run a program when loaded.
    """
    if not folder.is_dir():
        cure = "`localrag models list` shows the models at hand."
        raise ModelMissing(f"There is no model folder {folder}.", cure)
    if not (folder / "config.json").is_file():
        cause = f"{folder} holds no model in the sentence-transformers format: no config.json."
        raise WrongKind(cause, "Name the folder with the files of the model.")
    config: dict[str, Any] = _read_json(folder / "config.json", dict)
    if not (folder / "tokenizer.json").is_file():
        raise ModelDamaged(f"{folder} has no tokenizer.json.", _AGAIN)
    if not any(folder.glob("*.safetensors")):
        _refuse_pickles(folder)
        raise ModelDamaged(f"{folder} has no weights: no file ends in .safetensors.", _AGAIN)
    return config


def scores_pairs(config: dict[str, Any]) -> bool:
    """Whether the settings are those of a cross-encoder."""
    architectures = config.get("architectures") or [""]
    return str(architectures[0]).endswith("ForSequenceClassification")


def check_modules(folder: Path) -> None:
    """Make sure that the parts of an embedder are known ones and hold no pickles.

    Raises:
        WrongKind: the folder does not say what the parts are.
        ModelDamaged: a part could run a program when loaded.
    """
    if not (folder / "modules.json").is_file():
        raise WrongKind(
            f"{folder} does not say how the vectors of tokens make up that of a text: "
            "no modules.json.",
            "Get the model in the sentence-transformers format, with all its files.",
        )
    for module in _read_json(folder / "modules.json", list):
        if not str(module.get("type")).startswith(_TRUSTED):
            cause = f"{folder} brings along a program of its own: {module.get('type')}."
            raise ModelDamaged(cause, "Choose a model that needs none.")
        part = folder / str(module.get("path", ""))
        if part.is_dir() and not any(part.glob("*.safetensors")):
            _refuse_pickles(part)


def deciding_files(folder: Path) -> list[Path]:
    """The files that decide what a model computes."""
    return [path for path in folder.rglob("*") if path.suffix in (".json", ".safetensors")]


def check_complete(folder: Path, model: Any) -> None:
    """Make sure that every weight of a loaded transformer came from its files.

    transformers makes up the missing ones at random, and says so in its log only.

    Raises:
        ModelDamaged: some did not.
    """
    from safetensors import safe_open

    stored: set[str] = set()
    for path in folder.glob("*.safetensors"):
        with safe_open(path, framework="pt") as weights:
            stored.update(weights.keys())
    # Either side may have the name of the model in front: "roberta.embeddings.…".
    stored |= {name.partition(".")[2] for name in stored}
    missing = [
        name
        for name in model.state_dict()
        if stored.isdisjoint((name, name.partition(".")[2])) and not name.startswith("pooler.")
    ]
    if missing:
        cause = f"{folder} lacks {len(missing)} weights of its model, {missing[0]} among them."
        raise ModelDamaged(cause, _AGAIN)


def _read_json(path: Path, kind: type) -> Any:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelDamaged(f"{path} cannot be read: {error}.", _AGAIN) from error
    if not isinstance(value, kind):
        raise ModelDamaged(f"{path} does not hold what it should.", _AGAIN)
    return value


def _refuse_pickles(folder: Path) -> None:
    if any(path.suffix in _PICKLES for path in folder.iterdir()):
        cause = f"The weights in {folder} are pickled Python objects, which can run any program."
        raise ModelDamaged(cause, "Get the model with weights in the safetensors format.")
