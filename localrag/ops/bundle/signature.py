"""Check signatures in the format of minisign, with Python's standard library only.

A bundle is checked before anything is installed, and the standard library has no signatures. So
this is Ed25519 by RFC 8032, section 5.1; the tests compare it with `cryptography`. A check uses no
secrets, so its timing reveals nothing. This text is part of every install.py.
"""

import base64
import hashlib


def is_genuine(key: str, text: bytes, signature: bytes) -> bool:
    """Whether a signature in the format of minisign fits a text and a public key in base64.

    `signature` is the content of the ``.minisig``, of the kind with a hash first.
    """
    try:
        public = base64.b64decode(key, validate=True)
        _untrusted, first, trusted, last = signature.decode().splitlines()
        head = base64.b64decode(first, validate=True)
        of_all = base64.b64decode(last, validate=True)
    except ValueError:
        return False
    whole = (len(public), len(head), len(of_all)) == (42, 74, 64)
    kinds = (public[:2], head[:2]) == (b"Ed", b"ED") and public[2:10] == head[2:10]
    comment = trusted.removeprefix("trusted comment: ").encode()
    return (
        whole
        and kinds
        and _signs(public[10:], hashlib.blake2b(text).digest(), head[10:])
        and _signs(public[10:], head[10:] + comment, of_all)
    )


_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)
_BASE = int.to_bytes(4 * pow(5, _P - 2, _P) % _P, 32, "little")


def _signs(public: bytes, text: bytes, signature: bytes) -> bool:
    base, key, commitment = map(_point, (_BASE, public, signature[:32]))
    scalar = int.from_bytes(signature[32:], "little")
    if not (base and key and commitment) or scalar >= _ORDER:
        return False
    hashed = hashlib.sha512(signature[:32] + public + text).digest()
    challenge = int.from_bytes(hashed, "little") % _ORDER
    left, right = _times(scalar, base), _sum(commitment, _times(challenge, key))
    return all((left[i] * right[2] - right[i] * left[2]) % _P == 0 for i in (0, 1))


_Point = tuple[int, int, int, int]
"""Extended coordinates: x = X/Z, y = Y/Z, xy = T/Z."""


def _point(encoded: bytes) -> _Point | None:
    """The point of the curve encoded in 32 bytes; None for invalid ones."""
    number = int.from_bytes(encoded, "little")
    y, odd = number & (2**255 - 1), number >> 255
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT % _P
    if y >= _P or (x * x - square) % _P or (x == 0 and odd):
        return None
    if x & 1 != odd:
        x = _P - x
    return x, y, 1, x * y % _P


def _sum(one: _Point, other: _Point) -> _Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % _P
    b = (one[1] + one[0]) * (other[1] + other[0]) % _P
    c = 2 * one[3] * other[3] * _D % _P
    d = 2 * one[2] * other[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(factor: int, point: _Point) -> _Point:
    product: _Point = (0, 1, 1, 0)
    while factor:
        if factor & 1:
            product = _sum(product, point)
        point = _sum(point, point)
        factor >>= 1
    return product
