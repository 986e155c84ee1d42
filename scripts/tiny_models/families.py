"""Eight families of chat models: their templates and control tokens, written after their documents.

Each template has the published form of a conversation with a system and a user message: without
tools, images and dates, and with our own words around.
"""

from dataclasses import dataclass

from tiny_models.chat import Markers

_CHATML = (
    "{%- for message in messages %}"
    "{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}"
    "{%- if enable_thinking is defined and not enable_thinking %}"
    "{{- '<think>\\n\\n</think>\\n\\n' }}"
)
_CHATML_MARKERS = Markers(
    ("<|endoftext|>", "<|im_start|>", "<|im_end|>"), bos="<|endoftext|>", eos="<|im_end|>"
)


@dataclass(frozen=True, slots=True)
class Family:
    """A family of models.

    Attributes:
        prompt: of the messages "法" (system) and "何条か" (user), without thought.
        opened: the same up to an opened thought; empty for a family without thought.
        by_itself: it thinks unless it is kept from it.
    """

    template: str
    markers: Markers
    prompt: str
    opened: str = ""
    by_itself: bool = False


_QWEN = (
    "<|im_start|>system\n法<|im_end|>\n<|im_start|>user\n何条か<|im_end|>\n<|im_start|>assistant\n"
)
_R1 = "<｜begin▁of▁sentence｜>法<｜User｜>何条か<｜Assistant｜><think>\n"
_HARMONY = (
    "<|start|>system<|message|>Reasoning: medium\n"
    "# Valid channels: analysis, commentary, final.<|end|>"
    "<|start|>developer<|message|># Instructions\n\n法<|end|>"
    "<|start|>user<|message|>何条か<|end|><|start|>assistant"
)
_MISTRAL = "<s>[SYSTEM_PROMPT]法[/SYSTEM_PROMPT][INST]何条か[/INST]"

FAMILIES = {
    "qwen3": Family(
        _CHATML + "{%- endif %}{%- endif %}",
        _CHATML_MARKERS,
        _QWEN + "<think>\n\n</think>\n\n",
        _QWEN + "<think>\n",
        by_itself=True,
    ),
    "qwen3.5": Family(
        _CHATML + "{%- else %}{{- '<think>\\n' }}{%- endif %}{%- endif %}",
        _CHATML_MARKERS,
        _QWEN + "<think>\n\n</think>\n\n",
        _QWEN + "<think>\n",
        by_itself=True,
    ),
    "deepseek-r1": Family(
        "{{ bos_token }}{%- for message in messages %}"
        "{%- if message.role == 'system' %}{{ message.content }}"
        "{%- elif message.role == 'user' %}{{ '<｜User｜>' + message.content }}"
        "{%- else %}{{ '<｜Assistant｜>' + message.content.split('</think>')[-1] }}"
        "{{ '<｜end▁of▁sentence｜>' }}{%- endif %}{%- endfor %}"
        "{%- if add_generation_prompt %}{{ '<｜Assistant｜><think>\\n' }}{%- endif %}",
        Markers(
            ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>"),
            bos="<｜begin▁of▁sentence｜>",
            eos="<｜end▁of▁sentence｜>",
        ),
        _R1 + "\n</think>\n\n",
        _R1,
        by_itself=True,
    ),
    "gemma-4": Family(
        "{{ bos_token }}{%- set thinks = enable_thinking | default(false) %}"
        "{%- for message in messages %}"
        "{{- '<|turn>' + ('model' if message.role == 'assistant' else message.role) + '\\n' }}"
        "{%- if message.role == 'system' and thinks %}{{- '<|think|>\\n' }}{%- endif %}"
        "{{- message.content + '<turn|>\\n' }}{%- endfor %}"
        "{%- if add_generation_prompt %}{{- '<|turn>model\\n' }}"
        "{%- if not thinks %}{{- '<|channel>thought\\n<channel|>' }}{%- endif %}{%- endif %}",
        Markers(
            ("<bos>", "<eos>", "<|turn>", "<turn|>", "<|think|>", "<|channel>", "<channel|>"),
            words=(),
            bos="<bos>",
            eos="<turn|>",
        ),
        "<bos><|turn>system\n法<turn|>\n<|turn>user\n何条か<turn|>\n<|turn>model\n"
        "<|channel>thought\n<channel|>",
        "<bos><|turn>system\n<|think|>\n法<turn|>\n<|turn>user\n何条か<turn|>\n<|turn>model\n"
        "<|channel>thought\n",
    ),
    "gpt-oss": Family(
        "{{- '<|start|>system<|message|>Reasoning: ' + (reasoning_effort or 'medium') }}"
        "{{- '\\n# Valid channels: analysis, commentary, final.<|end|>' }}"
        "{%- for message in messages %}{%- if message.role == 'system' %}"
        "{{- '<|start|>developer<|message|># Instructions\\n\\n' + message.content + '<|end|>' }}"
        "{%- elif message.role == 'user' %}"
        "{{- '<|start|>user<|message|>' + message.content + '<|end|>' }}{%- else %}"
        "{{- '<|start|>assistant<|channel|>final<|message|>' + message.content + '<|end|>' }}"
        "{%- endif %}{%- endfor %}"
        "{%- if add_generation_prompt %}{{- '<|start|>assistant' }}{%- endif %}",
        Markers(
            (
                *("<|startoftext|>", "<|return|>", "<|call|>", "<|start|>", "<|end|>"),
                *("<|channel|>", "<|constrain|>", "<|message|>"),
            ),
            words=(),
            bos="<|startoftext|>",
            eos="<|return|>",
        ),
        _HARMONY + "<|channel|>final<|message|>",
        _HARMONY + "<|channel|>analysis<|message|>",
        by_itself=True,
    ),
    "llama-3": Family(
        "{{ bos_token }}{%- for message in messages %}"
        "{{- '<|start_header_id|>' + message.role + '<|end_header_id|>\\n\\n' }}"
        "{{- message.content | trim + '<|eot_id|>' }}{%- endfor %}"
        "{%- if add_generation_prompt %}"
        "{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}",
        Markers(
            ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
            words=(),
            bos="<|begin_of_text|>",
            eos="<|eot_id|>",
        ),
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n法<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\n何条か<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
    ),
    "magistral": Family(
        "{{ bos_token }}{%- for message in messages %}{%- if message.role == 'system' %}"
        "{{- '[SYSTEM_PROMPT]' + message.content + '[/SYSTEM_PROMPT]' }}"
        "{%- elif message.role == 'user' %}{{- '[INST]' + message.content + '[/INST]' }}"
        "{%- else %}{%- if message.thinking %}{{- '[THINK]' + message.thinking + '[/THINK]' }}"
        "{%- endif %}{{- message.content + eos_token }}{%- endif %}{%- endfor %}",
        Markers(
            (
                *("<s>", "</s>", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[INST]", "[/INST]"),
                *("[THINK]", "[/THINK]"),
            ),
            words=(),
            bos="<s>",
            eos="</s>",
        ),
        _MISTRAL,
        _MISTRAL + "[THINK]",
    ),
    "glm-4.5": Family(
        "[gMASK]<sop>{%- for message in messages %}{{- '<|' + message.role + '|>\\n' }}"
        "{{- message.content }}{%- if message.role == 'user' and enable_thinking is defined "
        "and not enable_thinking %}{{- '/nothink' }}{%- endif %}{%- endfor %}"
        "{%- if add_generation_prompt %}{{- '<|assistant|>' }}"
        "{%- if enable_thinking is defined and not enable_thinking %}"
        "{{- '\\n<think></think>' }}{%- endif %}{%- endif %}",
        Markers(
            ("<|endoftext|>", "[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>"),
            bos="<|endoftext|>",
            eos="<|user|>",
        ),
        "[gMASK]<sop><|system|>\n法<|user|>\n何条か/nothink<|assistant|>\n<think></think>",
        "[gMASK]<sop><|system|>\n法<|user|>\n何条か<|assistant|><think>\n",
        by_itself=True,
    ),
}
