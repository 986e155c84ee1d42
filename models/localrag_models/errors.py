"""The errors of this package.

ModelError                   a model cannot be used, or failed
├── ModelMissing             no such model or file, here or on the server; names how to get it
├── BackendMissing           the package for this kind of model is not installed
├── ModelDamaged             the file is cut short, changed, or no model
├── WrongKind                a model of another kind (an embedder as chat model …)
├── ContextExceeded          prompt, or prompt and reply, do not fit into the context
├── SchemaUnsupported        a JSON schema without bounds, or one that cannot be enforced
├── ReplyInvalid             the reply does not match its schema, or was cut short
├── OutOfMemory              the model or its context does not fit into memory
├── TransferFailed           a pull, import or export failed; existing files are kept
│   ├── StorageFailed        the disk is full, or a file or folder cannot be written
│   └── StoreBusy            another process is installing or removing the same model
├── ProbabilitiesMissing     a model server does not give the probabilities of tokens
├── ServerRefused            a model server refused the request; repeating it changes nothing
└── ServerTrouble            transient: trying again can help
    ├── ServerUnreachable    no server answers at the address
    ├── ServerTimeout        no answer in time
    ├── ServerBroke          the connection ended in the middle of a reply
    └── ServerBusy           the server is overloaded or has an error (429, 5xx)

A message is English and names its `fields` in braces. Programs on top can translate it and give
their own words for a `Cure`.
"""

from enum import StrEnum
from typing import Any, ClassVar


def N_(message: str) -> str:  # noqa: N802 - the mark that gettext's tools look for
    """Mark a message for translation."""
    return message


class Cure(StrEnum):
    """Cures for which programs on top have their own command or setting."""

    ACCEPT_TERMS = "Accept them at {page}, and give a token that may read it."
    ADD_FILE = "Install it, then remove the file."
    ANOTHER_HUB = "Try again later, or from another hub."
    CARRY = "Check the network and try again: the data received so far is kept."
    CHECK_FILES = "Check the files of the model."
    CHECK_REPOSITORY = (
        "Check the name; if it is gated, accept its terms at {page} and give a token."
    )
    CONTEXT_OF_SERVER = "Give the server a larger context, or say what it really has."
    COPY = "Copy the file instead of linking it."
    EXPORT = "Export the model on the other machine first."
    FREE_SPACE = "Free some space, or use another disk."
    GET = "Get it from a hub."
    GET_AGAIN = "Get the model again."
    HUB_ADDRESS = "Check the address of the hub."
    INSTALL_PACKAGE = "Install the package {package}."
    KNOWN_NAME = "Choose a model by a name that the server knows."
    LESS_MEMORY = "Use a smaller model, or a smaller context."
    LESS_THOUGHT = "Switch thinking off, lower the effort, or allow more tokens."
    LESS_TEXT = "Use fewer or shorter passages, a shorter reply, or a larger context."
    MORE_TIME = "Allow it more time, or see what the server is busy with."
    NAME_FOR_NEW = "Give the new one another name, or remove what is there."
    NAME_LETTERS = "Choose up to 64 letters and digits, with '.', '-' and '_' inside."
    NEAREST = "Did you mean {near}?"
    NEAREST_TO_PULL = "The nearest name in the catalogue is {near}."
    ONLINE = "Take it out of the environment."
    OTHERS_TO_PULL = "See what is in the catalogue, or name a file of a repository."
    PULL_AGAIN = "Try the pull of {model} again."
    REMOVE = "If it is not needed, remove it."
    REPLACE = "Remove it, then get it again."
    SEE_INSTALLED = "See which models are installed."
    SERVED_NAME = "Choose one that it has, such as {first}."
    SERVER_ADDRESS = "Write it as http://HOST:PORT."
    SMALLER_CONTEXT = "Ask for a context of at most {available} tokens."
    START_SERVER = "Start the server, or name the address of another."
    ENTER_AGAIN = "Copy the token once more."


class ModelError(Exception):
    """A model cannot be used, or failed.

    Args:
        cause: what went wrong, a sentence marked with `N_` that names the model, file or server.
        cure: what to do about it, likewise; empty if nothing is known.
        fields: the values in both.

    Attributes:
        transient: whether trying again a little later can help.
    """

    transient: ClassVar[bool] = False

    def __init__(self, cause: str, cure: str = "", /, **fields: object) -> None:
        super().__init__(cause, cure)
        self.fields = fields

    @property
    def cause(self) -> str:
        return self._in_words(self.args[0])

    @property
    def cure(self) -> str:
        return self._in_words(self.args[1])

    def _in_words(self, message: str) -> str:
        return message.format_map(self.fields) if self.fields else str(message)

    def __str__(self) -> str:
        return f"{self.cause} {self.cure}".strip()

    def __reduce__(self) -> tuple[object, ...]:
        """Make the error picklable: its named arguments are in its attributes."""
        return type(self).__new__, (type(self), *self.args), self.__dict__


class ModelMissing(ModelError):  # noqa: N818 - the names of this tree say the state
    """There is no such model, file or name on the server."""


class BackendMissing(ModelError):  # noqa: N818
    """The package for this kind of model is not installed."""


class ModelDamaged(ModelError):  # noqa: N818
    """The file is cut short, changed, or no model."""


class WrongKind(ModelError):  # noqa: N818
    """The model is of another kind."""


class ContextExceeded(ModelError):  # noqa: N818
    """Prompt, or prompt and reply, do not fit into the context.

    Attributes:
        needed: tokens.
        available: tokens.
    """

    def __init__(
        self, cause: str, cure: str = "", /, *, needed: int, available: int, **fields: object
    ) -> None:
        super().__init__(cause, cure, needed=needed, available=available, **fields)
        self.needed = needed
        self.available = available


class SchemaUnsupported(ModelError):  # noqa: N818
    """A JSON schema cannot be enforced, or does not bound its strings and lists."""


class ReplyInvalid(ModelError):  # noqa: N818
    """The reply does not match its schema, or was cut short by the limit of tokens.

    Attributes:
        reply: the `localrag_models.chat.Reply` so far.
    """

    def __init__(self, cause: str, cure: str = "", /, *, reply: Any, **fields: object) -> None:
        super().__init__(cause, cure, **fields)
        self.reply = reply


class OutOfMemory(ModelError):  # noqa: N818
    """The model or its context does not fit into memory."""


class TransferFailed(ModelError):  # noqa: N818
    """A pull, import or export failed; existing files are unchanged."""


class StorageFailed(TransferFailed):
    """The disk is full, or a file or folder cannot be written."""


class StoreBusy(TransferFailed):
    """Another process is installing or removing the same model."""


class ProbabilitiesMissing(ModelError):  # noqa: N818
    """A model server does not give the probabilities of tokens."""


class ServerRefused(ModelError):  # noqa: N818
    """A model server refused the request; repeating it changes nothing."""


class ServerTrouble(ModelError):  # noqa: N818
    """A model server is in trouble; trying again can help."""

    transient = True


class ServerUnreachable(ServerTrouble):
    """No server answers at the address."""


class ServerTimeout(ServerTrouble):
    """The server did not answer in time."""


class ServerBroke(ServerTrouble):
    """The connection ended in the middle of a reply."""


class ServerBusy(ServerTrouble):
    """The server is overloaded, or reports an error of its own."""
