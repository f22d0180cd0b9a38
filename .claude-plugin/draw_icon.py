"""Draw icon.png beside this file: many lines go in, a few bright ones come out. Run it after a
change.
"""

from __future__ import annotations

import os
import struct
import sys
import zlib

SIZE = 512  # pixels; the directory asks for a square of 512 to 2,048
CORNER = 96.0
GROUND, DIM, BRIGHT = (22, 27, 38), (74, 88, 112), (255, 178, 62)
BAR = 11.0  # half height of a bar in pixels
BARS = (  # centre y, left, right, colour: a long output with two lines that matter
    (112, 96, 400, DIM),
    (160, 96, 336, DIM),
    (208, 96, 416, BRIGHT),
    (256, 96, 304, DIM),
    (304, 96, 376, DIM),
    (352, 96, 352, BRIGHT),
    (400, 96, 320, DIM),
)


def coverage(x: float, y: float, box: tuple[float, float, float, float], corner: float) -> float:
    """How much of the pixel at (x, y) a rounded box covers: 0 to 1, by distance to its edge."""
    left, top, right, bottom = box
    dx = max(left + corner - x, x - (right - corner), 0.0)
    dy = max(top + corner - y, y - (bottom - corner), 0.0)
    return min(1.0, max(0.0, corner - (dx * dx + dy * dy) ** 0.5 + 0.5))


def over(
    below: tuple[int, int, int], above: tuple[int, int, int], share: float
) -> tuple[int, int, int]:
    """`above` laid on `below` with the given share, 0 to 1."""
    return tuple(round(b + (a - b) * share) for a, b in zip(above, below))


def row(y: int) -> bytes:
    """One line of RGBA pixels."""
    line = bytearray()
    near = [bar for bar in BARS if abs(y + 0.5 - bar[0]) <= BAR + 1]
    for x in range(SIZE):
        colour = GROUND
        for centre, left, right, paint in near:
            share = coverage(x + 0.5, y + 0.5, (left, centre - BAR, right, centre + BAR), BAR)
            colour = over(colour, paint, share) if share else colour
        line += bytes(colour) + bytes(
            [round(255 * coverage(x + 0.5, y + 0.5, (0, 0, SIZE, SIZE), CORNER))]
        )
    return bytes(line)


def chunk(kind: bytes, body: bytes) -> bytes:
    """One PNG chunk: length, kind, body, CRC-32 (PNG specification, section 5.3)."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png() -> bytes:
    """The whole icon as PNG bytes, 8-bit RGBA, no filter."""
    pixels = b"".join(b"\0" + row(y) for y in range(SIZE))
    header = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 6, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(pixels, 9))
        + chunk(b"IEND", b"")
    )


def main() -> int:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "icon.png"), "wb") as icon:
        icon.write(png())
    return 0


if __name__ == "__main__":
    sys.exit(main())
