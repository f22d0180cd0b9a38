"""Token estimates: one unit for settings, budgets and reports."""

from __future__ import annotations

# an estimate, the same everywhere; real ratios differ by model and only money and windows use them
BYTES_A_TOKEN = 4


def estimate(text: str | bytes) -> int:
    """Estimated tokens of a text: its UTF-8 bytes / 4, rounded up."""
    size = (
        len(text)
        if isinstance(text, bytes) or text.isascii()
        else len(text.encode("utf-8", "surrogatepass"))
    )
    return -(-size // BYTES_A_TOKEN)


def of_bytes(size: int) -> int:
    """Estimated tokens of so many bytes, rounded up."""
    return -(-size // BYTES_A_TOKEN)


def in_bytes(count: int) -> int:
    """The bytes that so many estimated tokens stand for."""
    return count * BYTES_A_TOKEN
