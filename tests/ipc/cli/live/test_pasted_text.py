"""Pasted text: where it ends, if its end is lost, too."""

from __future__ import annotations

from livedex_ipc.cli.live.pasted_text import ALONE_S, INTERRUPT, SILENCE_S, PastedText

END = "\x1b[201~"


def paste(text: str, at: float = 10.0) -> PastedText:
    pasted = PastedText()
    pasted.begin(at)
    for character in text:
        pasted.add(character, at)
    return pasted


def test_a_paste_ends_at_its_end_wherever_it_is_cut() -> None:
    for cut in range(1, len(END)):
        pasted = paste("one\x03" + END[:cut])
        assert pasted.take() == "one\x03"
        assert pasted.is_open(10.0)
        for character in END[cut:]:
            pasted.add(character, 11.0)
        assert (pasted.take(), pasted.is_open(11.0)) == ("", False)


def test_what_begins_like_an_end_is_text() -> None:
    pasted = paste("one\x1b[20")
    assert pasted.take() == "one"
    pasted.add("x", 10.0)
    assert pasted.take() == "\x1b[20x"


def test_a_paste_without_end_ends_after_a_silence() -> None:
    pasted = paste("one")
    assert pasted.is_open(10.0 + SILENCE_S)
    pasted.add("2", 10.0 + SILENCE_S)
    assert pasted.is_open(11.0 + SILENCE_S)
    assert not pasted.is_open(10.5 + 2 * SILENCE_S)


def test_only_a_control_c_before_which_nothing_came_may_be_typed() -> None:
    pasted = paste("one")
    assert not pasted.may_be_typed(INTERRUPT, 10.0 + ALONE_S / 2)
    assert pasted.may_be_typed(INTERRUPT, 10.0 + 2 * ALONE_S)
    assert not pasted.may_be_typed("\r", 10.0 + 2 * ALONE_S)
