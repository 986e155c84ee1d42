"""The ways to answer that there are; read in a thread, for much is imported for it."""

from typing import NamedTuple

from localrag.language import N_
from localrag.workspace import Workspace

DEFAULT_READER = N_("default reader")
DEFAULT_ABOUT = N_("generative where a model is chosen, extractive where none is")


class Way(NamedTuple):
    """A method, or the default reader.

    Attributes:
        name: as the settings name it; "" for the default reader.
        about: what it does; a message.
        chooses: whether it needs options.
        needs_model: whether it cannot do without a model that writes.
        evaluates: whether it is for evaluations only.
    """

    name: str
    about: str
    chooses: bool = False
    needs_model: bool = False
    evaluates: bool = False


class ChatModel(NamedTuple):
    """A model that writes.

    Attributes:
        name: as the settings name it; "" for none.
        size: in bytes; 0 where it is not here.
        problem: why it cannot be used; "" where it can.
    """

    name: str
    size: int = 0
    problem: str = ""


def ways() -> list[Way]:
    """Every way to answer, the default reader first."""
    from localrag.methods.catalogue import NAMES, method

    found = (method(name) for name in NAMES)
    return [
        Way("", DEFAULT_ABOUT),
        *(
            Way(one.name, one.about, one.chooses, one.needs_model, one.reads_context)
            for one in found
        ),
    ]


def chat_models(workspace: Workspace, *named: str) -> list[ChatModel]:
    """No model, those that are installed, and those of these names: of a server, or not here."""
    from localrag.inference.failures import as_ours
    from localrag_models.store import ModelStore

    store = ModelStore(workspace.models)
    wanted = [name for name in dict.fromkeys(named) if name]
    here = [
        ChatModel(model.name, model.size) for model in store.installed() if model.kind == "chat"
    ]
    known = {model.name for model in here}
    served = [ChatModel(name) for name in wanted if ":" in name and name not in known]
    missing = [name for name in wanted if ":" not in name and name not in known]
    faults = store.problems() if missing else {}
    lost = [
        ChatModel(
            name, problem=as_ours(faults[name]).cause if name in faults else N_("not installed")
        )
        for name in missing
    ]
    return [ChatModel(""), *served, *here, *lost]


def fault_of_options(way: Way, count: int) -> tuple[int, int] | None:
    """How many options a way needs at least and at most, where a question has another number."""
    from localrag.methods.choices import FEWEST, LABELS

    if not way.chooses or FEWEST <= count <= len(LABELS):
        return None
    return FEWEST, len(LABELS)
