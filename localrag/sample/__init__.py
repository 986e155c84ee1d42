"""The sample corpus: invented laws and pages, installed with the package."""

from pathlib import Path

FOLDER = Path(__file__).parent / "corpus"
"""Folder with the files of the sample corpus; ``README.md`` beside it says what they are."""

QUESTION = "渡し舟を運航してはならない水位の基準は何か。"
"""A question that needs the act (第八条) and the cabinet order that fills it in (第四条)."""

ANSWERED_BY = "599CO0000000002#4"
"""The passage that holds the answer: who has it has the sample."""
