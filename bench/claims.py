"""What livedex claims of any corpus, each claim held against the disk, git or ripgrep, and reported with its figure.

Invariant: a claim is reported once a corpus, whether it holds or not, and all that speaks against it is named.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from helpers import change_scenarios, chunk_coverage, disk_inventory, ripgrep_words
from helpers.support import Daemon, Tree, add_root, temporary_home, wait_ready

if TYPE_CHECKING:
    from livedex_ipc.client import Client

INDEXED_S = 1800.0
SHOWN = 20  # lines against a claim
ALONE = 25  # words that ripgrep is asked for one by one, to check the run for all of them
PLAIN = 10  # every so many words are also asked without quotes
CLIENTS = 3


class Report:
    """Prints as it goes. ``against`` counts what speaks against the claims."""

    def __init__(self) -> None:
        self.against = 0
        self._since = time.monotonic()

    def tell(self, claim: str, figure: str, against: list[str]) -> None:
        self.against += len(against)
        verdict = f"{len(against)} AGAINST IT" if against else "holds"
        elapsed, self._since = time.monotonic() - self._since, time.monotonic()
        print(f"{claim}: {figure}: {verdict} ({elapsed:.0f} s)", flush=True)
        for line in against[:SHOWN]:
            print(f"    {line}", flush=True)


def prove(report: Report, corpus: Path, copy: Path, options: argparse.Namespace) -> None:
    """All chosen claims on one corpus; what changes files is done in a copy of it at ``copy``."""
    print(f"== {corpus}", flush=True)
    shutil.copytree(corpus, copy, symlinks=True)
    chosen = set(options.claims)
    with temporary_home() as home:
        daemon = Daemon(home).start()
        try:
            if "membership" in chosen:
                _as_work_tree(Tree(copy))
            odd = chunk_coverage.write_odd_files(copy / "odd files") if "coverage" in chosen else 0
            with daemon.client() as client:
                add_root(client, copy, timeout=INDEXED_S)
                records = _counts(report, client, copy)
                if "membership" in chosen:
                    _membership(report, client, Tree(copy), records)
                if "coverage" in chosen:
                    _coverage(report, client, copy, records, odd)
                if "ripgrep" in chosen:
                    _ripgrep(report, client, copy, records, options)
            if "reuse" in chosen:
                _reuse(report, daemon, Tree(copy))
            if "fresh" in chosen:
                _fresh(report, daemon, Tree(copy), options.rounds)
        finally:
            daemon.stop()


def _counts(report: Report, client: Client, root: Path) -> dict[bytes, disk_inventory.Record]:
    found = disk_inventory.account(client, root)
    status = client.call("status")
    reported = {name: status[name] for name in ("files", "skipped", "failed")}
    against = list(found.unexplained)
    if sum(reported.values()) != len(found.listed):
        against.append(f"status says {reported}, the list has {len(found.listed)}")
    shut_out = sum(found.ignored.values())
    figure = f"{reported} = {len(found.listed)} listed = {found.entries} on disk - {shut_out} shut out by a rule"
    report.tell("every entry is accounted for", figure, against)
    for rule, count in found.ignored.most_common(5):
        print(f"    {count} by {rule}", flush=True)
    return found.listed


def _membership(report: Report, client: Client, tree: Tree, records: Mapping[bytes, disk_inventory.Record]) -> None:
    expected = disk_inventory.by_git(tree.path)
    against = [f"{name!r}: livedex has it, git does not list it" for name in records.keys() - expected]
    ascribed = 0
    for name in expected - records.keys():
        answer = client.call("files/explain", disk_inventory.path_params(os.fsencode(tree.path) + b"/" + name))
        if disk_inventory.is_own_rule(name, answer):
            ascribed += 1
        else:
            against.append(f"{name!r}: git lists it, `why` says {answer}")
    figure = f"{len(records)} = {len(expected)} of git's - {ascribed} by a rule of livedex's own"
    report.tell("membership is git's", figure, against)


def _coverage(
    report: Report, client: Client, root: Path, records: Mapping[bytes, disk_inventory.Record], odd: int
) -> None:
    found = chunk_coverage.check(
        client, root, [name for name, record in records.items() if record["status"] == "indexed"]
    )
    figure = f"{found.chunks} chunks of {found.files} files ({odd} odd ones; the lines of {found.by_rg} by rg -n)"
    report.tell("chunks cover their file", figure, found.faults)


def _ripgrep(
    report: Report,
    client: Client,
    root: Path,
    records: Mapping[bytes, disk_inventory.Record],
    options: argparse.Namespace,
) -> None:
    text_of = ripgrep_words.texts(root)
    indexed = [name for name, record in records.items() if record["status"] == "indexed"]
    chosen = ripgrep_words.sample(indexed, text_of, options.words, options.seed, options.common)
    found = ripgrep_words.compare(client, root, chosen, records, text_of)
    figure = f"{found.words} words, {found.both} files by both"
    report.tell('"word" finds the files of rg -l -w -F', figure, found.unexplained)
    for reason, count in found.explained.most_common():
        print(f"    {count} explained: {reason}", flush=True)
    alone = ripgrep_words.by_ripgrep(root, chosen[:ALONE])
    against = [word for word in chosen[:ALONE] if ripgrep_words.by_ripgrep_alone(root, word) != alone[word].exact]
    report.tell("ripgrep says the same of each word alone", f"{ALONE} words", against)
    copies, few = ripgrep_words.copies_of(records), chosen[::PLAIN]
    missed = [
        f"{word}: without quotes {name!r} is missing"
        for word in few
        for name in ripgrep_words.by_livedex(client, root, f'"{word}"', copies)
        - ripgrep_words.by_livedex(client, root, word, copies)
    ]
    report.tell("without quotes no file is lost", f"{len(few)} words", missed)


def _as_work_tree(tree: Tree) -> None:
    """Makes the copy a repository whose ignore rules leave something out, some of it tracked."""
    tree.git("init", "-q", "-b", "main")
    tree.write(".gitignore", GITIGNORE)
    tree.git("add", "-A")
    tracked = next((path for path in sorted(tree.path.rglob("*.c")) if path.is_file()), None)
    if tracked is not None:
        tree.git("add", "-f", str(tracked))
    tree.git("commit", "-qm", "all")
    tree.write(".gitignore", GITIGNORE + "*_test.c\n/fs/ext[23]/\ntest_*.py\n!test_json*\n")


GITIGNORE = """\
.*
!.gitignore
*.o
*.ko
*.cmd
*.order
/tags
/TAGS
*.patch
*~
\\#*#
/include/generated/
/Documentation/*/build/
**/__generated__/**
"""


@contextmanager
def _unchanged(report: Report, client: Client, claim: str, figure: str = "") -> Iterator[None]:
    """Claims that what is done meanwhile cuts no file into chunks again."""
    before = change_scenarios.chunked(client)
    yield
    after = change_scenarios.chunked(client)
    report.tell(
        f"{claim} chunks nothing again",
        figure or f"{after - before} files",
        [] if after == before else [str(after - before)],
    )


def _reuse(report: Report, daemon: Daemon, tree: Tree) -> None:
    with daemon.client() as client:
        files = client.call("status")["files"]
        with _unchanged(report, client, "touch of everything"):
            change_scenarios.touch_all(tree.path)
        folders = change_scenarios.gather(tree, "gathered")
        count = sum(name.startswith(b"gathered/") for name in disk_inventory.listed(client, tree.path))
        for old, new in (("gathered", "renamed"), ("renamed", "gathered")):
            with _unchanged(report, client, f"the rename of a folder of {count} files"):
                tree.rename(old, new)
        for folder in folders:
            tree.rename(f"gathered/{folder}", folder)
        (tree / "gathered").rmdir()
        change_scenarios.chunked(client)
        assert client.call("status")["files"] == files
    daemon.restart()
    with daemon.client() as client:
        wait_ready(client, timeout=INDEXED_S)
        count = change_scenarios.chunked(client)
        against = [str(count)] if count or client.call("status")["files"] != files else []
        report.tell("a restart chunks nothing again", f"{count} files", against)
        if not (tree / ".git").exists():
            tree.git("init", "-q", "-b", "main")
        tree.git("add", "-A")
        tree.git("commit", "-qm", "as it is", "--allow-empty")
        changed = change_scenarios.commit_another_branch(tree, "other")
        change_scenarios.chunked(client)
        for branch in ("main", "other", "main"):
            with _unchanged(report, client, f"git checkout {branch} ({changed} files differ)"):
                tree.git("checkout", "-q", branch)
        with _unchanged(report, client, "a second worktree"):
            second = tree.path.with_name(f"{tree.path.name}-second")
            tree.git("worktree", "add", "-q", "--detach", str(second), "main")
            add_root(client, second, timeout=INDEXED_S)
        print(f"    {client.call('status')['files']} files with it, {files} before", flush=True)
        client.call("roots/remove", {"path": str(second)})


def _fresh(report: Report, daemon: Daemon, tree: Tree, rounds: int) -> None:
    with daemon.client() as client:
        wrong = change_scenarios.rounds(client, Tree(tree / "fresh-one"), rounds, seed=1)
    report.tell("a fresh search is right after every change", f"{rounds - len(wrong)} of {rounds}", wrong)
    with burning():
        wrong = _crowd(daemon, tree, rounds)
    figure = f"{CLIENTS * rounds - len(wrong)} of {CLIENTS * rounds}, {CLIENTS} clients, under load"
    report.tell("and so it is for several at once", figure, wrong)


def _crowd(daemon: Daemon, tree: Tree, rounds: int) -> list[str]:
    def work(client: Client, number: int) -> list[str]:
        return change_scenarios.rounds(client, Tree(tree / f"fresh-crowd{number}"), rounds, seed=number)

    return change_scenarios.at_once(daemon.client, [partial(work, number=number) for number in range(CLIENTS)])


@contextmanager
def burning() -> Iterator[None]:
    """A process for each core that does nothing but compute."""
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
