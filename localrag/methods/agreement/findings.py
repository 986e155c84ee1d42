"""Findings in words, for the reader of an answer on Japanese law."""

from localrag.methods.agreement.model import Finding, Kind

_WORDS = {
    Kind.QUANTITY: "「{said}」に対し条文は「{law}」",
    Kind.FOREIGN: "「{said}」の語が条文にない",
    Kind.ABSOLUTE: "例外を認めない「{said}」が条文にない",
    Kind.HEDGE: "「{said}」と例外の余地を残している",
    Kind.CONCESSION: "「{said}」と要件を問題にしていない",
    Kind.DENIAL: "「{said}」に当たる定めが条文にない",
    Kind.NEGATION: "「{said}」の肯定・否定が条文と逆である",
    Kind.EXCLUSION: "条文が除いている：「{law}」",
    Kind.MISSING: "その条文が手元にない",
    Kind.NAMED: "設問が既に挙げている条文である",
    Kind.COMMON: "設問と共通の語：{said}",
}


def in_words(finding: Finding) -> str:
    """One clause, without a full stop at its end."""
    return _WORDS[finding.kind].format(said=finding.said, law=finding.law)
