"""Defects of the children that chunk files: their starts, their versions, their bounds, the pool's threads."""

from __future__ import annotations

from planted.defect import Defect

PROCESS = "tests/indexing/chunk/test_chunk_process.py"
ANSWERS = "tests/indexing/chunk/test_answer_check.py"

DEFECTS = (
    Defect(
        "start-failure-raised",
        "when the system cannot start a child, the error ends the thread that asked for it",
        "livedex_indexing/chunk/chunk_process.py",
        (
            (
                "        except OSError as error:\n            reason",
                "        except ValueError as error:\n            reason",
            ),
        ),
        f"{PROCESS}::test_one_that_the_system_cannot_start_blames_no_job[24]",
    ),
    Defect(
        "other-version-trusted",
        "a child of another version is given files",
        "livedex_indexing/chunk/chunk_process.py",
        (("if read_version(body) != code_version.OWN:", "if read_version(body) is None:"),),
        f"{PROCESS}::test_one_of_another_version_blames_no_job",
    ),
    Defect(
        "upgrade-not-noticed",
        "a child that cannot start because livedex was replaced is taken for a broken installation",
        "livedex_indexing/chunk/chunk_process.py",
        (("return lost.why == OTHER_VERSION or code_version.was_replaced()", "return lost.why == OTHER_VERSION"),),
        f"{PROCESS}::test_one_that_never_starts_after_an_upgrade_says_so",
    ),
    Defect(
        "child-outlives-daemon",
        "a child that loops in C code goes on after the daemon was killed",
        "livedex_indexing/chunk/chunk_child.py",
        (("prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)", "prctl(_PR_SET_PDEATHSIG, 0)"),),
        f"{PROCESS}::test_one_in_a_loop_of_c_code_ends_with_its_parent",
    ),
    Defect(
        "child-time-unbounded",
        "nothing but the daemon ends a child that loops",
        "livedex_indexing/chunk/chunk_child.py",
        (("        _limit_cpu(time_limit(len(job.data)))\n", ""),),
        f"{PROCESS}::test_one_in_a_loop_of_c_code_ends_by_itself",
    ),
    Defect(
        "child-killed-with-its-thread",
        "a child ends with the thread that asked for it, in the middle of another thread's file",
        "livedex_indexing/chunk/child_starter.py",
        (("return _thread.submit(_start, arguments, environment).result()", "return _start(arguments, environment)"),),
        f"{PROCESS}::test_it_outlives_the_thread_that_started_it",
    ),
    Defect(
        "frame-unbounded",
        "the daemon takes a frame of any length from a child",
        "livedex_indexing/chunk/chunk_process.py",
        (("if length > self._most_bytes():", "if length > 1 << 40:"),),
        f"{PROCESS}::test_an_answer_out_of_bounds_is_a_death_on_that_file",
    ),
    Defect(
        "offsets-unchecked",
        "a child may name places outside the file",
        "livedex_indexing/chunk/answer_check.py",
        (("if not (start <= end <= size and", "if not (start <= end and"),),
        f"{ANSWERS}::test_every_chunk_is_looked_at",
    ),
)
