"""localrag answers questions from local corpora with checked quotations, on one workstation.

`localrag.doors.api` names the Python interface; docs/python.md shows it. Anything else may
change with any version::

    import localrag

    corpus = localrag.open("law").corpus("main")
    corpus.add("xml/")
    corpus.index()
    answer = corpus.ask("薬機法で誇大広告は禁止されているか")
    for citation in answer.citations:
        print(citation.label, citation.quote)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from localrag.doors.api import *  # noqa: F403

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # The command line imports this package, too, and must not wait for all of it; names of modules
    # are asked for here as well, and are small.
    if name == "open" or name[0].isupper():
        api = import_module("localrag.doors.api")
        if name in api.__all__:
            return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *import_module("localrag.doors.api").__all__})
