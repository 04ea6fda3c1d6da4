"""Bytes to text: the encoding, and the offset of each character."""

from __future__ import annotations

import codecs

import pytest

from livedex_indexing.text import decoder

RUSSIAN = "Съешь же ещё этих мягких французских булок да выпей чаю.\n" * 20
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\n" * 20


def test_what_is_binary() -> None:
    assert not decoder.is_binary(b"")
    assert not decoder.is_binary(b"text\n")
    assert decoder.is_binary(b"text\0")
    assert not decoder.is_binary(b"a" * decoder.BINARY_HEAD + b"\0")
    assert not decoder.is_binary(codecs.BOM_UTF16_LE + "a".encode("utf-16-le"))
    assert not decoder.is_binary(codecs.BOM_UTF16_BE + "a".encode("utf-16-be"))
    assert not decoder.is_binary(codecs.BOM_UTF32_LE + "a".encode("utf-32-le"))
    assert not decoder.is_binary(codecs.BOM_UTF32_BE + "a".encode("utf-32-be"))
    assert decoder.is_binary(codecs.BOM_UTF8 + b"\0")


@pytest.mark.parametrize("text", ["", "a", "line\r\nnext\rlast\x0c\u2028\n", "naïve 🎉 é\n", "\x0b\0"])
@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_unicode_is_exact(text: str, mark: bytes, encoding: str) -> None:
    data = mark + text.encode(encoding)
    decoded = decoder.decode(data)
    assert (decoded.text, decoded.encoding, decoded.lossy, decoded.bom_bytes) == (text, encoding, False, len(mark))
    pieces = [text[:2], text[2:3], text[3:]]
    at = decoded.bom_bytes
    for piece, end in zip(pieces, decoder.byte_ends(decoded, pieces, len(data)), strict=True):
        assert decoder.decode_slice(data, decoded.encoding, at, end) == piece
        at = end
    assert at == len(data)


def test_utf16_that_begins_with_a_nul_is_not_utf32() -> None:
    decoded = decoder.decode(codecs.BOM_UTF16_LE + "\0abc".encode("utf-16-le"))
    assert (decoded.text, decoded.encoding) == ("\0abc", "utf-16-le")


def test_broken_utf16_is_lossy_and_keeps_its_places() -> None:
    data = codecs.BOM_UTF16_LE + b"a\0\x00\xdcb\0\x00\xd8!"
    decoded = decoder.decode(data)
    assert decoded.lossy
    assert decoded.text == "a\ufffdb\ufffd"
    assert decoder.byte_ends(decoded, ["a", "\ufffd", "b", "\ufffd"], len(data)) == [4, 6, 8, 11]


@pytest.mark.parametrize(("text", "encoding"), [(RUSSIAN, "koi8-r"), (RUSSIAN, "cp1251"), (JAPANESE, "shift_jis")])
def test_an_alphabet_is_found(text: str, encoding: str) -> None:
    decoded = decoder.decode(text.encode(encoding))
    assert decoded.text == text
    assert not decoded.lossy


SHORT = (
    ("/* J\xfcrgen M\xfcller */\n", "latin-1"),
    ("El ni\xf1o comi\xf3 una pi\xf1a, \xbfno?\n", "latin-1"),
    ("Tr\xe8s \xe9l\xe9gant, d\xe9j\xe0 vu \xe0 l’\xe9t\xe9 – œuvre\n", "cp1252"),
    ("na\xefve", "latin-1"),
    ("\xfc", "latin-1"),
    ("Fu\xdfball: 5 €", "cp1252"),
    ("\xabOui\xbb, dit-il", "latin-1"),
    ("这是一个简短的中文文件。\n", "gb18030"),
    ("你好，世界\n", "gb18030"),
    ("# 注释 comment\nint 变量 = 1;\n", "gb18030"),
    ("안녕하세요 세계\n", "euc_kr"),
    ("こんにちは世界\n", "euc_jp"),
    ("こんにちは世界、これは短い文章です。\n", "shift_jis"),
    ("Привет, мир! Это короткий текст.\n", "cp1251"),
    ("Zażółć gęślą jaźń w Łodzi\n", "cp1250"),
)


@pytest.mark.parametrize(("text", "encoding"), SHORT, ids=[f"{encoding}-{text[:5]}" for text, encoding in SHORT])
def test_a_short_text_is_read_as_it_was_written(text: str, encoding: str) -> None:
    """Statistics took these for Polish, Korean or EBCDIC."""
    data = text.encode(encoding)
    decoded = decoder.decode(data)
    assert (decoded.text, decoded.lossy) == (text, False)
    assert data.decode(decoded.encoding) == text


def test_a_sample_is_not_cut_inside_a_character() -> None:
    text = JAPANESE * 60
    data = text.encode("shift_jis")
    assert len(data) > 64 * 1024
    assert decoder.decode(data).text == text


def test_text_that_is_ascii_for_long_and_then_is_not() -> None:
    data = b"plain words\n" * 10_000 + b"caf\xe9\x81\n"
    decoded = decoder.decode(data)
    assert decoded.lossy
    assert decoded.encoding == "cp1252"
    assert decoded.text.endswith("café\ufffd\n")
    assert len(decoded.text) == len(data)


def test_a_character_with_two_spellings_keeps_its_places(monkeypatch: pytest.MonkeyPatch) -> None:
    # cp932 has this sign twice; encoding it again gives the other bytes.
    data = "名前".encode("cp932") + b"\x81\xe6" + b"a\xfa\x5b"
    monkeypatch.setattr(decoder, "detect", lambda _: "cp932")
    decoded = decoder.decode(data)
    assert decoded.starts is not None
    pieces = list(decoded.text)
    ends = decoder.byte_ends(decoded, pieces, len(data))
    slices = [data[start:end].decode("cp932") for start, end in zip([0, *ends], ends, strict=False)]
    assert slices == pieces
    assert ends[-1] == len(data)


def test_random_bytes_lose_nothing_but_themselves() -> None:
    data = bytes(range(1, 256)) * 40 + b"\nneedle\n"
    decoded = decoder.decode(data)
    assert "needle" in decoded.text
    ends = decoder.byte_ends(decoded, list(decoded.text), len(data))
    assert ends[-1] == len(data)
    at = decoded.text.index("needle")
    assert decoder.decode_slice(data, decoded.encoding, ends[at - 1], ends[at + 5]) == "needle"


def test_a_named_encoding_comes_after_utf_8_and_marks() -> None:
    text = "якоря и корабли"
    for encoding in ("koi8-r", "cp866", "cp1251"):
        assert decoder.decode(text.encode(encoding), encoding)[:2] == (text, encoding)
        assert decoder.decode(text.encode(), encoding)[:2] == (text, "utf-8")
        assert decoder.decode(b"\xff\xfe" + text.encode("utf-16-le"), encoding)[:2] == (text, "utf-16-le")
    assert decoder.decode(b"caf\xe9 \x81", "ascii").encoding != "ascii", "what does not decode is found out"


@pytest.mark.parametrize(
    ("name", "python"),
    [
        ("cp1250", "cp1250"), ("Latin-1", "iso8859-1"), ("GB18030", "gb18030"), ("sjis", "shift_jis"), ("utf-16", None),
        ("utf-8", None), ("iso2022_jp", None), ("utf-7", None), ("hz", None), ("cp037", None), ("rot13", None),
        ("hex", None), ("idna", None), ("nothing", None), ("", None), ("a\0b", None),
    ],
)  # fmt: skip
def test_encodings_that_may_be_named(name: str, python: str | None) -> None:
    assert decoder.codec_name(name) == python
