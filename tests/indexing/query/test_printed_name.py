"""The name in a line that a program printed, in a mangled symbol or in a reference is written as people write it."""

from __future__ import annotations

import pytest

from livedex_indexing.query.printed_name import PrintedName, printed_name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("net/http.(*Server).Serve(0xc000012345, {0x4b1f20, 0x3})", "http.Server.Serve"),
        ("main.run(...)", "main.run"),
        ("/ship.deck.v1.Crew/HaulNet", "Crew/HaulNet"),
        ("runtime.(*Limiter).Overflow.func1", "runtime.Limiter.Overflow"),
        ("created by golang.org/x/sys.sleep in goroutine 1", "sys.sleep"),
        ("  12: tokio::sync::lock", "tokio::sync::lock"),
        ("tokio::sync::Lock::run::{{closure}}::h8f2a1c3d4e5f6a7b", "tokio::sync::Lock::run"),
        ("_ZN5tokio4sync4Lock3run17h8f2a1c3d4e5f6a7bE", "tokio::sync::Lock::run"),
        ("_ZNK5tokio4Lock3runEv", "tokio::Lock::run"),
        ("_Z8run_taskPKc", "run_task"),
        ("_RNvNtCs1234_5tokio4sync4lock", "tokio::sync::lock"),
        ("ffffffff81a0b2c0 t run_task", "run_task"),
        ("ffffffff81a0b2c0 <run_task>:", "run_task"),
        ("     3.21%  swapper  [kernel.kallsyms]  [k] run_task", "run_task"),
        ("  bash-1234  [001] ....  123.456789: run_task <-do_work", "run_task"),
        (" 1)   0.512 us    |  run_task();", "run_task"),
        ("==1234==    by 0x4C2AB80: run_task (in /usr/lib/libfoo.so)", "run_task"),
        ("#3  0x00007ffff7e5 in run_task () from /lib/libfoo.so.1", "run_task"),
        ("4  MyApp  0x0000000102 run_task + 124", "run_task"),
        ("<function Foo.run at 0x7f2a1c3d4e50>", "Foo.run"),
        ("<bound method Foo.run of <a.Foo object at 0x7f2a1c3d4e50>>", "Foo.run"),
        ("#4 [internal function]: Foo\\Bar->run(Array)", "Foo\\Bar->run"),
        ('ERROR: modpost: "run_task" [drivers/foo/foo.ko] undefined!', "run_task"),
        ("=== RUN   TestRun", "TestRun"),
        ("[  FAILED  ] FooTest.Run (3 ms)", "FooTest.Run"),
        ("test tests::run_task ... FAILED", "tests::run_task"),
        ("FAIL: test_run (tests.foo.FooTest.test_run)", "test_run"),
        ("go test -run TestRun", "TestRun"),
        ("$ GOFLAGS=-mod=mod go test -race ./net/... -run '^TestRun$' -count=1", "TestRun"),
        ("go test -bench BenchmarkRun ./...", "BenchmarkRun"),
        ("cargo test run_task", "run_task"),
        ("cargo test --lib deck::tests::run_task -- --nocapture", "deck::tests::run_task"),
        ("pytest tests -k test_run", "test_run"),
        ("uv run python -m pytest -x -k 'test_run'", "test_run"),
        ("python -m unittest -v tests.test_deck.DeckTest.test_run", "tests.test_deck.DeckTest.test_run"),
        ("mvn -q test -Dtest=DeckTest#run", "DeckTest#run"),
        ("./gradlew :app:test --tests 'ship.DeckTest.run'", "ship.DeckTest.run"),
        ("ctest --output-on-failure -R DeckTest", "DeckTest"),
        ("foo.c:(.text+0x1a): undefined reference to `run_task'", "run_task"),
        ("foo:run_task/2", "foo.run_task"),
        ("fun foo:run/0", "foo.run"),
        (":foo.run/2", "foo.run"),
        ("Foo.Bar.run?/2", "Foo.Bar.run?"),
        ("run_task/3", "run_task"),
        ("#Fun<foo.run.2.1234>", "foo.run"),
        ("Error in run.task(x, 1) : object 'y' not found", "run.task"),
        ("Error in `run_task()`:", "run_task"),
        ("  4. ├─foo:::run_task(., x = 1)", "foo:::run_task"),
        ("  5. │ └─foo::run(x)", "foo::run"),
    ],
)
def test_the_name_in_what_was_printed(text: str, name: str) -> None:
    assert printed_name(text) == PrintedName(name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (":func:`run_task`", "run_task"),
        (":py:meth:`~a.Foo.run`", "a.Foo.run"),
        (":class:`the task <a.Task>`", "a.Task"),
        ("{@link Foo#run(int)}", "Foo#run"),
        ("Foo::class", "Foo"),
        ("[`Foo::run`]", "Foo::run"),
        ("[Foo.run]", "Foo.run"),
        ("[Foo.run()]", "Foo.run"),
    ],
)
def test_the_name_of_a_reference(text: str, name: str) -> None:
    assert printed_name(text) == PrintedName(name, is_reference=True)


@pytest.mark.parametrize(
    "text", ["a::b", "json.dumps", "run_task", "__init__", "_Zfoo", "12: the thing", "fmt.Println(0)", "deadbeef cafe"]
)
def test_other_texts_have_none(text: str) -> None:
    assert printed_name(text) is None


@pytest.mark.parametrize("text", ["http/2", "10:30/2", "[3.14]", "src/foo.py/2", "[a link]", "Error in the script:"])
def test_neither_have_paths_times_and_links(text: str) -> None:
    assert printed_name(text) is None


@pytest.mark.parametrize(
    ("text", "name", "case"),
    [
        ("    --- FAIL: TestRun/no_task (0.00s)", "TestRun", "no_task"),
        ("=== RUN   TestRun/fast/no_task's_end", "TestRun", "fast/no_task's_end"),
        ("go test -run 'TestRun/no_task' ./deck", "TestRun", "no_task"),
        ("go test -run '^TestRun$/^no_task$'", "TestRun", "no_task"),
        ("go test -run=TestRun/empty -v", "TestRun", "empty"),
        ("--- FAIL: TestRun (0.00s)", "TestRun", ""),
    ],
)
def test_the_case_of_a_test_is_kept(text: str, name: str, case: str) -> None:
    found = printed_name(text)
    assert found is not None
    assert (found.text, found.case) == (name, case)
