"""Which weights stand behind the names of installed models, and how they are packed."""

import re
from functools import cache
from pathlib import Path

from localrag.config import Config
from localrag.inference.failures import named
from localrag.workspace import Workspace
from localrag_models.gguf import read_header
from localrag_models.runtimes import named_runtime
from localrag_models.store import ModelStore

# What `general.file_type` says in a GGUF file; the enumeration llama_ftype of llama.cpp.
_FILE_TYPES = {
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    7: "Q8_0",
    8: "Q5_0",
    9: "Q5_1",
    10: "Q2_K",
    11: "Q3_K_S",
    12: "Q3_K_M",
    13: "Q3_K_L",
    14: "Q4_K_S",
    15: "Q4_K_M",
    16: "Q5_K_S",
    17: "Q5_K_M",
    18: "Q6_K",
    30: "IQ4_XS",
    32: "BF16",
}

_IN_A_NAME = re.compile(
    r"(?<![A-Z0-9])(?:I?Q[1-8](?:_[0-9A-Z]+)*|BF16|F16|F32)(?![A-Z0-9])", re.IGNORECASE
)


def weights(workspace: Workspace, config: Config, section: str) -> dict[str, object]:
    """Describe the model that a section of the settings names, ``chat.weights`` and the like.

    Returns:
        Nothing for a model behind a server, which does not tell, or where none is named.

    Raises:
        ModelUnusable: the model is not installed.
    """
    name = getattr(getattr(config, section), "model", "")
    with named():
        if not name or named_runtime(name):
            return {}
        model = ModelStore(workspace.models).find(name)
        found: dict[str, object] = {f"{section}.weights": model.id}
        if model.format == "gguf" and (packed := _quantisation(model.path)):
            found[f"{section}.quantisation"] = packed
    return found


@cache
def _quantisation(path: Path) -> str:
    """How the weights of a GGUF file are packed; "" where it does not say."""
    # The header of a large vocabulary takes a second to read; nearly every file has it in its name.
    if told := _IN_A_NAME.search(path.stem):
        return told[0].upper()
    file_type = read_header(path).metadata.get("general.file_type")
    return _FILE_TYPES.get(file_type, "") if isinstance(file_type, int) else ""
