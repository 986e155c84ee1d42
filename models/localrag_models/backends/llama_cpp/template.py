"""The chat template of a model: from messages to the text of a prompt.

A template is a program in a model file. Jinja's sandbox keeps it from everything else; this module
makes sure that it ends.
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
from localrag_models.thinking import HARMONY, MAGISTRAL, THINK, Effort, Thinking, marks_of

_LIMIT = 2.0
"""Seconds of work for a prompt; one of 200 turns takes 0.1."""
_MEMORY = 100 << 20
"""The most bytes by which the memory of the process may grow."""
_LARGEST = 1_000_000
"""The largest result of one step: characters, elements, the value of a number."""
_SAMPLE = [{"role": "user", "content": "a"}]
_MODEL_TURN = "<|start|>assistant"


class ChatTemplate:
    """The template of a model file, rendered in a sandbox.

    Attributes:
        marks: of its thought; None for a model without thought.

    Raises:
        WrongKind: the model has no template.
        ModelDamaged: its template is no Jinja, or does not end.
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
        self.marks = marks_of(source)
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
                N_("The chat template of {name} is not a Jinja template ({why})."),
                N_("Choose another conversion of the model."),
                name=name,
                why=error,
            ) from error

    def thinks(self, thinking: Thinking) -> bool:
        """Whether the model will think; by itself, if its template does not switch it off."""
        if self.marks is None or thinking == "off":
            return False
        if thinking == "on" or self.marks is HARMONY:
            return True
        by_itself = self._attempt(_SAMPLE, {}) or ""
        off = self._attempt(_SAMPLE, _switched(False))
        return by_itself != off or by_itself.rstrip().endswith(self.marks.opening)

    def render(
        self, messages: Sequence[Message], *, thinks: bool = False, effort: Effort = "medium"
    ) -> str:
        """The text of a prompt up to the answer, or with `thinks` up to an opened thought.

        Raises:
            WrongKind: the template does not accept these messages, or leaves some out.
            ModelDamaged: it does not end.
        """
        turns: list[dict[str, str]] = [
            {"role": message.role, "content": neutralise(message.content, self._control)}
            for message in messages
        ]
        # With the effort the beginning of a prompt would change, so it is the same for every call.
        values = {"reasoning_effort": effort} if self.marks is HARMONY else _switched(thinks)
        prompt = self._attempt(turns, values)
        if prompt is None and turns[0]["role"] == "system":
            prompt = self._attempt(_without_system(turns), values)
        if prompt is None:
            raise WrongKind(
                N_("The chat template of {name} cannot put these turns into a prompt: {roles}."),
                N_("Choose another model, or another conversion of it."),
                name=self._name,
                roles=", ".join(turn["role"] for turn in turns),
            )
        return self._opened(prompt) if thinks else self._closed(prompt)

    def closing(self) -> str:
        """The text between an opened thought and the answer."""
        return "" if self.marks is None else self.marks.closing + self.marks.answer

    def _opened(self, prompt: str) -> str:
        """The prompt with an opened thought: a grammar has to wait for its end."""
        assert self.marks is not None
        if prompt.rstrip().endswith(self.marks.opening):
            return prompt
        blank = "" if self.marks in (HARMONY, MAGISTRAL) else "\n"
        return f"{prompt}{self.marks.opening}{blank}"

    def _closed(self, prompt: str) -> str:
        """The prompt without a thought, even if the template opens one."""
        if self.marks is HARMONY and prompt.endswith(_MODEL_TURN):
            return prompt + self.marks.answer.removeprefix(_MODEL_TURN)
        if self.marks and prompt.rstrip().endswith(self.marks.opening):
            return prompt + ("\n" if self.marks is THINK else "") + self.closing()
        return prompt

    def _attempt(self, turns: list[dict[str, str]], values: Mapping[str, object]) -> str | None:
        """The prompt; None if the template refuses the turns or drops their text."""
        try:
            with _limited():
                prompt: str = self._template.render(
                    messages=turns,
                    add_generation_prompt=True,
                    raise_exception=_refuse,
                    # Templates ask whether they are none, not whether they exist.
                    **dict.fromkeys(("functions", "function_call", "tools", "tool_choice")),
                    **self._tokens,
                    **values,
                )
        except _Overlong as error:
            raise self._endless(error) from None
        except Exception:  # noqa: BLE001 - templates may raise anything
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
    """A template needs too much; the message says why.

    No template can catch it, and no filter takes it for a missing value.
    """


class _Sandbox(ImmutableSandboxedEnvironment):
    """A sandbox without steps that make much of little.

    `_limited` checks the memory between steps; nothing can within one (``"x" * 10**9``,
    ``"%9999999d"``).
    """

    intercepted_binops = frozenset(["*", "**", "%"])

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Multiply, or take a remainder, if the result stays small."""
        if operator == "**":
            raise _Overlong("it raises numbers to powers")
        if operator == "%" and isinstance(left, str):
            raise _Overlong("it formats texts by %")
        if operator == "*" and _size(left) * _size(right) > _LARGEST:
            raise _Overlong("it repeats a text or multiplies large numbers")
        return super().call_binop(context, operator, left, right)

    def call(self, context: Any, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        if getattr(function, "__name__", "") in ("format", "format_map"):
            raise _Overlong("it formats texts")
        _check_call(getattr(function, "__self__", None), args, kwargs)
        return super().call(context, function, *args, **kwargs)


def _environment() -> _Sandbox:
    """The sandbox with the filters and functions of chat templates in Transformers."""
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
        # For some filters, the context or the environment comes before the value.
        at = next((n for n, arg in enumerate(args) if isinstance(arg, str)), None)
        if at is None:
            _check_call(None, args, kwargs)
        else:
            _check_call(args[at], args[at + 1 :], kwargs)
        return function(*args, **kwargs)

    return checked


def _check_call(subject: object, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Refuse a call whose result could be much longer than its arguments."""
    given = (*args, *kwargs.values())
    if any(isinstance(one, int) and abs(one) > _LARGEST for one in given):
        raise _Overlong("it asks for a very wide margin or a very large number")
    match subject, [one for one in given if isinstance(one, str)]:
        # The arguments of `replace`: the old text and the new.
        case str(), [old, new, *_] if subject.count(old) * len(new) > _LARGEST:
            raise _Overlong("it replaces much of a text by a longer one")


def _size(value: Any) -> int:
    if isinstance(value, int | float):
        return max(1, int(abs(value)))
    return len(value) if isinstance(value, Sized) else 1


def _refuse(message: str) -> NoReturn:
    raise ValueError(message)


def _peak() -> int:
    """The peak memory of the process, in bytes; 0 if unknown."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    # Linux counts kilobytes, macOS bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


@contextmanager
def _limited() -> Iterator[None]:
    """Limit the work of this thread's Python code.

    Jinja compiles templates to Python, without a hook in its loops. The interpreter's hook for
    debuggers is called between steps, not within one (``"x" * 10**9``).
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


def _switched(thinks: bool) -> dict[str, object]:
    """The names in templates: Qwen's and others', and DeepSeek's."""
    return {"enable_thinking": thinks, "thinking": thinks}


def _without_system(turns: list[dict[str, str]]) -> list[dict[str, str]]:
    system, first, *others = [*turns, {"role": "user", "content": ""}][: max(2, len(turns))]
    content = f"{system['content']}\n\n{first['content']}".strip()
    return [{"role": "user", "content": content}, *others]
