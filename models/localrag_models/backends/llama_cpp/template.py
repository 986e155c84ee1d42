"""The chat template of a model: from messages to the text of a prompt.

A template is a program that came with a model file. It runs in the sandbox of Jinja, which keeps it
from everything but its own work; that this work ends is seen to here.
"""

import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from functools import wraps
from typing import Any, NoReturn

from jinja2.sandbox import ImmutableSandboxedEnvironment

from localrag_models.backends.llama_cpp.native import runtime
from localrag_models.chat import Message, neutralise
from localrag_models.errors import N_, ModelDamaged, WrongKind

_LIMIT = 2.0
"""Seconds of work in which a prompt has to be ready; one of 200 turns takes 0.1."""
_MEMORY = 100 << 20
"""Bytes by which the memory of the process may grow meanwhile."""
_LARGEST = 1_000_000
"""What one step may make: characters, elements, the value of a number."""
_NO_REASONING = "\n</think>\n\n"


class ChatTemplate:
    """The template that a model file brings along, rendered in a sandbox.

    Args:
        source: Jinja.
        name: of the model, for errors.
        begin: spelling of the token that begins a text; empty where there is none.
        end: spelling of the token that ends a turn.
        control: spellings of the control tokens of the vocabulary.

    Raises:
        WrongKind: the model has no template.
        ModelDamaged: its template is no Jinja, or does not come to an end.
    """

    def __init__(
        self, source: str, *, name: str, begin: str, end: str, control: Collection[str]
    ) -> None:
        if not source:
            raise WrongKind(
                N_("{name} has no chat template: nobody knows how to talk to it."),
                N_("Choose an instruction-tuned model whose file holds its template."),
                name=name,
            )
        self._name = name
        self._control = frozenset(control)
        self._tokens = {"eos_token": end, "bos_token": begin}
        try:
            with _limited():
                self._template = _environment().from_string(source)
        except _Overlong as error:
            raise self._endless(error) from None
        except Exception as error:  # Jinja's own, those of Python's compiler, and its limits
            raise ModelDamaged(
                N_("The chat template of {name} is no Jinja template ({why})."),
                N_("Choose another conversion of the model."),
                name=name,
                why=error,
            ) from error

    def render(self, messages: Sequence[Message]) -> str:
        """The text of a prompt that ends where the answer begins; reasoning is switched off.

        Raises:
            WrongKind: the template does not take these messages, or leaves some of them out.
            ModelDamaged: it does not come to an end.
        """
        turns: list[dict[str, str]] = [
            {"role": message.role, "content": neutralise(message.content, self._control)}
            for message in messages
        ]
        prompt = self._attempt(turns)
        if prompt is None and turns[0]["role"] == "system":
            prompt = self._attempt(_without_system(turns))
        if prompt is None:
            raise WrongKind(
                N_("The chat template of {name} cannot put these turns into a prompt: {roles}."),
                N_("Choose another model, or another conversion of it."),
                name=self._name,
                roles=", ".join(turn["role"] for turn in turns),
            )
        # A template may open the reasoning itself, for models that always think.
        return prompt + _NO_REASONING if prompt.rstrip().endswith("<think>") else prompt

    def _attempt(self, turns: list[dict[str, str]]) -> str | None:
        """The prompt; None where the template refuses the turns or drops what they say."""
        try:
            with _limited():
                prompt: str = self._template.render(
                    messages=turns,
                    add_generation_prompt=True,
                    enable_thinking=False,
                    raise_exception=_refuse,
                    # Templates ask whether they are none, not whether they are there.
                    **dict.fromkeys(("functions", "function_call", "tools", "tool_choice")),
                    **self._tokens,
                )
        except _Overlong as error:
            raise self._endless(error) from None
        except Exception:  # noqa: BLE001 - templates raise whatever they like
            return None
        whole = all(turn["content"].strip() in prompt for turn in turns)
        return prompt if whole else None

    def _endless(self, why: "_Overlong") -> ModelDamaged:
        return ModelDamaged(
            N_("The chat template of {name} takes too much time or memory ({why})."),
            N_("Choose another conversion of the model; do not trust this one."),
            name=self._name,
            why=why,
        )


class _Overlong(BaseException):
    """A template takes too much; the message says what it does.

    No template can catch it, and no filter takes it for a value that is missing.
    """


class _Sandbox(ImmutableSandboxedEnvironment):
    """A sandbox in which no single step makes much of little.

    Between steps `_limited` looks at the memory; within one (``"x" * 10**9``, ``"%9999999d"``)
    nothing can.
    """

    intercepted_binops = frozenset(["*", "**", "%"])

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Multiply, or take a remainder, of what stays small."""
        if operator == "**":
            raise _Overlong("it raises numbers to powers")
        if operator == "%" and isinstance(left, str):
            raise _Overlong("it formats texts by %")
        if operator == "*" and _size(left) * _size(right) > _LARGEST:
            raise _Overlong("it repeats a text or multiplies large numbers")
        return super().call_binop(context, operator, left, right)

    def call(self, context: Any, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call what a template calls, with no wide margins and no long replacements."""
        if getattr(function, "__name__", "") in ("format", "format_map"):
            raise _Overlong("it formats texts")
        _check_call(getattr(function, "__self__", None), args, kwargs)
        return super().call(context, function, *args, **kwargs)


def _environment() -> _Sandbox:
    """The sandbox with what templates of chats know, as Transformers renders them."""
    runtime()
    from llama_cpp.llama_chat_format import Jinja2ChatFormatter

    made = _Sandbox(
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=(Jinja2ChatFormatter.IgnoreGenerationTags, "jinja2.ext.loopcontrols"),
    )
    made.filters["tojson"] = Jinja2ChatFormatter.tojson
    for name, function in made.filters.items():
        made.filters[name] = _checked(function)
    del made.filters["format"]
    made.globals["strftime_now"] = Jinja2ChatFormatter.strftime_now
    return made


def _checked(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)  # With the marks by which Jinja passes its context on.
    def checked(*args: Any, **kwargs: Any) -> Any:
        # Before the value that is filtered comes, for some, the context or the environment.
        at = next((n for n, arg in enumerate(args) if isinstance(arg, str)), None)
        if at is None:
            _check_call(None, args, kwargs)
        else:
            _check_call(args[at], args[at + 1 :], kwargs)
        return function(*args, **kwargs)

    return checked


def _check_call(subject: object, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Refuse a call whose result could be much longer than what goes in."""
    given = (*args, *kwargs.values())
    if any(isinstance(one, int) and abs(one) > _LARGEST for one in given):
        raise _Overlong("it asks for a very wide margin or a very large number")
    match subject, [one for one in given if isinstance(one, str)]:
        # As `replace` takes them: what is looked for, and what takes its place.
        case str(), [old, new, *_] if subject.count(old) * len(new) > _LARGEST:
            raise _Overlong("it replaces much of a text by a longer one")


def _size(value: Any) -> int:
    """Characters or elements of a sequence, the value of a number."""
    if isinstance(value, int | float):
        return max(1, int(abs(value)))
    return len(value) if isinstance(value, Sized) else 1


def _refuse(message: str) -> NoReturn:
    raise ValueError(message)


def _peak() -> int:
    """The most memory that the process has had so far, in bytes; 0 where that is not told."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    # Linux counts kilobytes, macOS bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


@contextmanager
def _limited() -> Iterator[None]:
    """Let the Python code of this thread work for so long only.

    Jinja compiles templates to Python, and has no hook in its loops; the interpreter has one, that
    of debuggers. It is looked at between steps, not within one (``"x" * 10**9``).
    """
    end = time.thread_time() + _LIMIT
    most = _peak() + _MEMORY

    def look(*_: object) -> Any:
        if time.thread_time() > end:
            raise _Overlong(f"no prompt after {_LIMIT:g} s of work")
        if _peak() > most:
            raise _Overlong(f"no prompt in {_MEMORY >> 20} MB")
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        yield
    finally:
        sys.settrace(before)


def _without_system(turns: list[dict[str, str]]) -> list[dict[str, str]]:
    """The turns, with the text of the system put before that of the first user."""
    system, first, *others = [*turns, {"role": "user", "content": ""}][: max(2, len(turns))]
    content = f"{system['content']}\n\n{first['content']}".strip()
    return [{"role": "user", "content": content}, *others]
