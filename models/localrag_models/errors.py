"""Every error this package raises on purpose, drawn as one tree.

ModelError                   a model cannot be used, or did not do what was asked
├── ModelMissing             there is no such model, file or server-side name; names what adds it
├── BackendMissing           the package that runs this kind of model is not installed
├── ModelDamaged             the file is cut short, changed, or no model at all
├── WrongKind                a model, but not of the kind asked for (an embedder as chat model …)
├── ContextExceeded          prompt, or prompt and reply, do not fit the context
├── SchemaUnsupported        a JSON schema that cannot be enforced, or does not bound its strings
├── ReplyInvalid             the reply is not what its schema demands, or was cut short
├── OutOfMemory              the model or its context does not fit into memory
├── TransferFailed           a pull, import or export did not end well; what is there is kept
│   ├── StorageFailed        the disk is full, or a file or folder cannot be written
│   └── StoreBusy            another process is installing or removing the same model
├── ProbabilitiesMissing     a model server does not give the probabilities of tokens
├── ServerRefused            a model server refused the request; repeating it changes nothing
└── ServerTrouble            transient: trying again can help
    ├── ServerUnreachable    nobody answers at the address
    ├── ServerTimeout        no answer in time
    ├── ServerBroke          the connection ended in the middle of a reply
    └── ServerBusy           overloaded, or an error of its own (429, 5xx)
"""

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from localrag_models.chat import Reply


class ModelError(Exception):
    """A model cannot be used, or did not do what was asked.

    Args:
        cause: what went wrong, one sentence, naming the model, file or server.
        cure: what to do about it, ideally a command to copy; empty where nothing can be advised.

    Attributes:
        transient: whether the same call can succeed when repeated a little later.
    """

    transient: ClassVar[bool] = False

    def __init__(self, cause: str, cure: str = "") -> None:
        super().__init__(cause)
        self.cause = cause
        self.cure = cure

    def __str__(self) -> str:
        return f"{self.cause} {self.cure}".strip()


class ModelMissing(ModelError):  # noqa: N818 - the names of this tree say the state
    """There is no such model, file or name on the server."""


class BackendMissing(ModelError):  # noqa: N818
    """The package that runs this kind of model is not installed."""


class ModelDamaged(ModelError):  # noqa: N818
    """The file is cut short, changed, or no model at all."""


class WrongKind(ModelError):  # noqa: N818
    """A model, but not of the kind asked for."""


class ContextExceeded(ModelError):  # noqa: N818
    """Prompt, or prompt and reply, do not fit the context.

    Attributes:
        needed: tokens needed.
        available: tokens there are.
    """

    def __init__(self, cause: str, cure: str = "", *, needed: int, available: int) -> None:
        super().__init__(cause, cure)
        self.needed = needed
        self.available = available


class SchemaUnsupported(ModelError):  # noqa: N818
    """A JSON schema that cannot be enforced, or does not bound its strings and lists."""


class ReplyInvalid(ModelError):  # noqa: N818
    """The reply is not what its schema demands, or was cut short by the limit of tokens.

    Attributes:
        reply: the reply as far as it came.
    """

    def __init__(self, cause: str, cure: str = "", *, reply: "Reply") -> None:
        super().__init__(cause, cure)
        self.reply = reply


class OutOfMemory(ModelError):  # noqa: N818
    """The model or its context does not fit into memory."""


class TransferFailed(ModelError):  # noqa: N818
    """A pull, import or export did not end well; what was there before is untouched."""


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
    """Nobody answers at the address."""


class ServerTimeout(ServerTrouble):
    """The server did not answer in time."""


class ServerBroke(ServerTrouble):
    """The connection ended in the middle of a reply."""


class ServerBusy(ServerTrouble):
    """The server is overloaded, or reports an error of its own."""
