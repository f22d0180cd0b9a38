"""SHA-256 without the cost of loading OpenSSL."""
from __future__ import annotations

SMALL = 1 << 20  # bytes


def digest_of(data: bytes) -> str:
    """The SHA-256 of the bytes, 64 hex digits.

    hashlib loads OpenSSL (3 to 4 ms of a hook's 20), which pays only for large data: it is about three times as fast.
    """
    if len(data) < SMALL:
        try:
            from _sha2 import sha256  # 3.12 and newer
        except ImportError:
            try:
                from _sha256 import sha256
            except ImportError:
                from hashlib import sha256
    else:
        from hashlib import sha256
    return sha256(data).hexdigest()
