"""Marks of the questions that something was made with: a figure on them says little of others."""

import json
from collections.abc import Sequence
from hashlib import blake2b


def mark(question: str, options: Sequence[str]) -> str:
    """What stands for a question, whatever the order of its options; 12 hexadecimal digits."""
    content = json.dumps([question, sorted(options)]).encode()
    return blake2b(content, digest_size=6).hexdigest()
