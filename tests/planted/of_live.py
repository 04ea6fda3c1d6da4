"""Defects of `livedex live`: what is typed, what is shown, what is opened."""

from __future__ import annotations

from planted.defect import Defect

MODEL = "tests/ipc/cli/live/test_live_model.py"
LIVE = "tests/ipc/cli/live/test_live.py"

DEFECTS = (
    Defect(
        "answer-of-before",
        "`livedex live` shows the hits of an earlier query, whose answer came late",
        "livedex_ipc/cli/live/live_model.py",
        (("    if event.number != state.requested:\n", "    if event.number > state.requested:\n"),),
        f"{MODEL}::test_a_late_answer_of_another_query_changes_nothing",
    ),
    Defect(
        "enter-of-before",
        "Enter, pressed before the answer came, opens a hit of the query before",
        "livedex_ipc/cli/live/live_model.py",
        (
            (
                "        if state.answered != state.requested:\n            return state._replace(deferred=key), ()\n"
                "        hit = ",
                "        hit = ",
            ),
        ),
        f"{MODEL}::test_enter_before_the_answer_opens_a_hit_of_what_was_typed",
    ),
    Defect(
        "raw-line",
        "the preview of `livedex live` sends the control characters of a file to the terminal",
        "livedex_ipc/cli/live/terminal_cells.py",
        (("return visible(text.replace(", "return str(text.replace("),),
        f"{LIVE}::test_nothing_raw_of_a_file_reaches_the_terminal",
    ),
    Defect(
        "narrow-characters",
        "`livedex live` takes every character for one cell, and lines of Chinese run over the edge",
        "livedex_ipc/cli/live/terminal_cells.py",
        (('return 2 if east_asian_width(character) in "WF" else 1', "return 1 if east_asian_width(character) else 1"),),
        f"{LIVE}::test_the_page_shows_what_is_drawn",
    ),
    Defect(
        "not-connected-again",
        "`livedex live` says that the daemon has ended, and does not connect again",
        "livedex_ipc/cli/live/live_session.py",
        (
            (
                '            self._retry = True\n            yield Linked("lost", "the daemon',
                '            yield Linked("lost", "the daemon',
            ),
        ),
        f"{LIVE}::test_it_goes_on_after_the_daemon_was_killed",
    ),
    Defect(
        "half-a-screen",
        "after the window was small for a moment, `livedex live` leaves what was lost undrawn",
        "livedex_ipc/cli/live/live_screen.py",
        (("self._window.clearok(True)", "self._window.clearok(False)"),),
        f"{LIVE}::test_a_window_that_was_small_for_a_moment_is_drawn_again",
    ),
    Defect(
        "picture-in-the-pipe",
        "`livedex live | …` draws into the pipe",
        "livedex_ipc/cli/live/live_screen.py",
        (("        os.dup2(terminal, 1)\n", ""),),
        f"{LIVE}::test_the_choice_goes_into_a_pipe_and_the_picture_to_the_terminal",
    ),
    Defect(
        "paste-without-end",
        "a paste whose end was lost takes each Ctrl-C for pasted text",
        "livedex_ipc/cli/live/pasted_text.py",
        (("return code == INTERRUPT and now - self._last >= ALONE_S", "return False"),),
        f"{LIVE}::test_a_paste_whose_end_is_lost_does_not_lock_the_user_in",
    ),
    Defect(
        "stop-of-curses",
        "after a stop and `fg`, the terminal of `livedex live` does not mark pasted text",
        "livedex_ipc/cli/live/live_screen.py",
        (("signal.SIGHUP, signal.SIGTSTP)", "signal.SIGHUP)"),),
        f"{LIVE}::test_stopped_it_draws_again_when_it_goes_on",
    ),
    Defect(
        "stop-of-the-editor",
        "a Ctrl-Z in the editor stops the editor alone, and nobody reads the keys",
        "livedex_ipc/cli/live/live_screen.py",
        ((", signal.SIGTSTP: signal.SIG_DFL}", "}"),),
        f"{LIVE}::test_stopped_with_its_editor_it_goes_on_behind_it",
    ),
    Defect(
        "interrupt-of-the-editor",
        "a Ctrl-C in the editor ends `livedex live`, and the editor with it",
        "livedex_ipc/cli/live/live_screen.py",
        (("signal.SIGINT: lambda *_: None, ", ""),),
        f"{LIVE}::test_a_ctrl_c_in_the_editor_is_the_editors",
    ),
    Defect(
        "stop-key-ignored",
        "a Ctrl-Z in `livedex live` does nothing",
        "livedex_ipc/cli/live/live_screen.py",
        (("            elif code == STOP:\n", "            elif code is None:\n"),),
        f"{LIVE}::test_stopped_it_draws_again_when_it_goes_on",
    ),
    Defect(
        "marks-that-are-not-listed",
        "`livedex live` counts marked hits that are not listed, which Ctrl-O would not take",
        "livedex_ipc/cli/live/live_view.py",
        (("sum(place(hit) in state.marked for hit in state.hits)", "len(state.marked)"),),
        f"{MODEL}::test_a_mark_counts_only_while_its_hit_is_listed",
    ),
    Defect(
        "marks-of-before",
        "Ctrl-O, pressed before the answer came, prints marked hits of the query before",
        "livedex_ipc/cli/live/live_model.py",
        (
            (
                "        if state.answered != state.requested:\n            return state._replace(deferred=key), ()\n"
                "        hits",
                "        hits",
            ),
        ),
        f"{MODEL}::test_a_marked_hit_of_an_earlier_query_is_not_taken",
    ),
)
