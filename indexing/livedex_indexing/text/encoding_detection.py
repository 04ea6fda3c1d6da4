"""Guesses the encoding of text that is neither UTF-8 nor marked. The guess rests on the first 64 KiB alone.

Invariant: only codecs without state are named, so that a slice of a file decodes by itself.
"""

from __future__ import annotations

SAMPLE = 64 * 1024  # bytes
# Shift states, or wide characters that only a mark may announce.
_REFUSED = ("utf_7", "utf_8", "utf_16", "utf_32", "hz", "iso2022", "punycode", "idna")


def detect(body: bytes) -> str | None:
    """A codec name for the bytes, or None where nothing fits well enough."""
    # Imported late: most files never come here, and the import stays in memory.
    from charset_normalizer import from_bytes

    sample = body[:SAMPLE]
    if len(body) > SAMPLE:  # a character cut in two would rule out the right answer
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    best = from_bytes(sample).best()
    if best is None:
        return None
    return None if best.encoding.startswith(_REFUSED) else best.encoding
