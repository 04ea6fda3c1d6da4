"""`python -m bench.quality.newcomer FOLDER…`: the searches of somebody who tried livedex on notes and on sources.

Prints the place of the file that each search is for, and how often the definition of a name is at which place. The
notes are made here; the folders bring the rest (flask, fzf, express, mini-redis, ripgrep, tmux, Python's library, the
manuals of Node and npm). A search whose file is in none of them is left out. `--write FILE` keeps the corpus and the
names in FILE, so that `--read FILE` in another checkout asks the same.

Invariant: the same folders give the same names.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import random
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from bench.quality.product import Engine, engine

SEED: Final = 125
EACH: Final = 25  # names of each kind
LIMIT: Final = 20
_KINDS: Final = {
    "Python functions": (".py", "python", r"\s*(?:async )?def "),
    "Python classes": (".py", "python", r"\s*class "),
    "Go functions": (".go", "go", r"func "),
    "Rust functions": (".rs", "rust", r"\s*(?:pub(?:\([a-z]+\))? )?(?:async |const |unsafe )*fn "),
    "C functions": (".c", "c", r"\w[^;=#]*\("),
}
_PLACES: Final = (("1", range(1, 2)), ("2 to 3", range(2, 4)), ("4 to 7", range(4, 8)), ("8 to 20", range(8, 21)))

NOTES: Final[Mapping[str, str]] = {
    "locks.md": "# Locks\n\nA lease lasts thirty seconds. The holder renews it every ten; then the lock is free.\n",
    "studio.md": "# Studio\n\nThe lease of the studio ends on 31 March. Give notice three months before.\n",
    "backup.md": "# Backup\n\n```\nrsync: connection unexpectedly closed (0 bytes received so far)\nrsync error: error"
    " in rsync protocol data stream (error code 12)\n```\n\nThe disk of the NAS at 192.168.178.23 was full.\n",
    "notary.md": "# Notary\n\nBring the passport; the power of attorney is signed at the notary on Tuesday.\n",
    "redis.md": "# Redis\n\n> OOM command not allowed when used memory > 'maxmemory'.\n\nSet an eviction policy.\n",
    "certificates.md": "# Certificates\n\nx509: certificate has expired or is not yet valid: renew the expired"
    " certificate with certbot renew, then reload nginx.\n",
    "webhooks.md": "# Webhooks\n\nThe webhook of the payment provider retries forever unless it gets a 200.\n",
    "bread.md": "---\nrating: 5\ntags: [kitchen]\n---\n# Bread\n\nRecipe: 500 g flour, 350 g water, 10 g salt.\n",
    "hedgehog.md": "# Garden\n\nA hedgehog lives under the shed. Leave the leaves there in autumn.\n",
    "aquarium.md": "# Aquarium\n\nThe axolotls need water below 18 degrees. No gravel.\n",
    "people.md": "# People\n\n- Zoë: birthday in May, +48 600 123 456\n- Łukaszewicz, the plumber\n",
    "invoices.md": "# Invoices\n\nMüller: invoice INV-2026-0815 over 1.450 €, paid.\n",
    "tofu.md": "# 豆腐\n\n豆腐と味噌を買う。김치도 산다. 두부와 마늘, 간장.\n",
    "ddia.md": "# DDIA\n\nKleppmann, chapter 7: snapshot isolation does not prevent write skew; serializable does.\n",
    "standup.md": "---\ntags: [work]\n---\n# Standup\n\nEvery day at half past nine: yesterday, today, blockers.\n",
}

SEARCHES: Final[Sequence[tuple[str, str]]] = (
    ("how long does a lease last", "notes/locks.md"),
    ("when does the studio lease end", "notes/studio.md"),
    ("rsync connection unexpectedly closed", "notes/backup.md"),
    ("notary power of attorney", "notes/notary.md"),
    ("OOM command not allowed", "notes/redis.md"),
    ("how do I renew an expired certificate", "notes/certificates.md"),
    ("exponential backoff", "*/server.rs"),
    ("payment webhook retries forever", "notes/webhooks.md"),
    ("bread recipe", "notes/bread.md"),
    ("hegdehog", "notes/hedgehog.md"),
    ("axolot", "notes/aquarium.md"),
    ("Zoe", "notes/people.md"),
    ("Muller invoice", "notes/invoices.md"),
    ("豆腐", "notes/tofu.md"),
    ("味噌", "notes/tofu.md"),
    ("김치", "notes/tofu.md"),
    ("두부 마늘", "notes/tofu.md"),
    ("192.168.178", "notes/backup.md"),
    ("INV-2026-0815", "notes/invoices.md"),
    ("0815", "notes/invoices.md"),
    ("+48 600 123 456", "notes/people.md"),
    ("1.450 €", "notes/invoices.md"),
    ("x509: certificate has expired or is not yet valid", "notes/certificates.md"),
    ("error code 12", "notes/backup.md"),
    ("ENOENT: no such file or directory", "*/errors.md"),
    ("ERR_REQUIRE_ESM", "*/errors.md"),
    ('"snapshot isolation"', "notes/ddia.md"),
    ("DDIA chapter 7 write skew", "notes/ddia.md"),
    ("kleppman", "notes/ddia.md"),
    ("tag:work standup", "notes/standup.md"),
    ("meta:rating=5", "notes/bread.md"),
    ("getopt_long", "*/getopt_long.c"),
    ("parse_long_options", "*/getopt_long.c"),
    ("class Blueprint", "*/blueprints.py"),
    ("url_for", "*/flask/app.py|*/flask/helpers.py"),
    ("def url_for", "*/flask/app.py|*/flask/helpers.py"),
    ("Blueprint.register", "*/blueprints.py"),
    ("FuzzyMatchV2", "*/algo/algo.go"),
    ("fuzzyMatch", "*/algo/algo.go"),
    ("BaseServer", "*/socketserver.py"),
    ("window_copy_key_table", "*/window-copy.c"),
    ("cmd-new-session.c", "*/cmd-new-session.c"),
    ("application.js", "*/lib/application.js"),
    ("helpers.py", "*/flask/helpers.py"),
    ("flask/app.py:1102", "*/flask/app.py"),
    ("socketserver.py:153", "*/socketserver.py"),
    ("where does ripgrep decide whether a file is binary", "*/crates/*binary*|*/searcher/*|*/GUIDE.md"),
    ("how does fzf calculate the score bonus at word boundary", "*/algo/algo.go"),
    ("max redis clients limit semaphore", "*/server.rs"),
    ("which npm command removes packages that are not needed", "*/npm-prune.*"),
    ("log everything a tmux pane prints to a file", "*/cmd-pipe-pane.c|*/tmux.1"),
    ("limit upload size in flask", "*/fileuploads.*|*/config.*|*/web-security.*"),
    ("share memory between worker threads", "*/worker_threads.*"),
    ("temporary directory cleanup on exit", "*/tempfile.py"),
    ("exit code unhandled promise rejection", "*/process.md|*/cli.md"),
    ("streaming response template", "*/streaming.*|*/flask/templating.py"),
    ("README", "*/README*"),
)


class Name(NamedTuple):
    """A name that is defined once. ``line``: of its definition."""

    kind: str
    name: str
    path: str
    line: int


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.quality.newcomer", description=__doc__)
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--write", type=Path, metavar="FILE", help="keep the corpus next to FILE, and the names in it")
    parser.add_argument("--read", type=Path, metavar="FILE", help="take both from there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="livedex-newcomer-") as folder:
        kept = options.read or options.write
        corpus = kept.with_suffix(".corpus") if kept else Path(folder) / "corpus"
        if options.read:
            names = [Name(*row) for row in json.loads(options.read.read_text())]
        else:
            make(corpus, options.folders)
            names = list(chosen_names(corpus))
        if options.write:
            options.write.write_text(json.dumps(names))
        with engine(corpus, Path(folder) / "index.db") as livedex:
            searches(livedex, corpus)
            definitions_of(livedex, names)
    return 0


def make(corpus: Path, folders: Sequence[Path]) -> None:
    """Write the notes, and copy the folders."""
    (corpus / "notes").mkdir(parents=True)
    for name, text in NOTES.items():
        (corpus / "notes" / name).write_text(text, encoding="utf-8")
    for folder in folders:
        ignored = shutil.ignore_patterns(".git", "__pycache__", "test", "idlelib", "site-packages")
        shutil.copytree(folder.resolve(), corpus / "src" / folder.resolve().name, symlinks=True, ignore=ignored)


def chosen_names(corpus: Path) -> Iterator[Name]:
    """Names of each kind, each defined once in the corpus."""
    from bench.quality.definitions import defined

    every = list(defined(corpus.resolve(), {suffix: language for suffix, language, _ in _KINDS.values()}))
    times = Counter(one.name for one in every)
    lines: dict[str, list[str]] = {}
    for kind, (suffix, _, pattern) in _KINDS.items():
        starts, fitting = re.compile(pattern), []
        for one in every:
            if times[one.name] == 1 and one.path.endswith(suffix):
                if one.path not in lines:
                    lines[one.path] = (corpus / one.path).read_text(errors="replace").splitlines()
                if starts.match(lines[one.path][one.line - 1]):
                    fitting.append(Name(kind, one.name, one.path, one.line))
        yield from random.Random(f"{SEED} {kind}").sample(fitting, min(EACH, len(fitting)))


def found(livedex: Engine, text: str) -> list[dict[str, Any]]:
    """The hits as plain data, as every version has them."""
    hits: list[dict[str, Any]] = msgspec.to_builtins(livedex.search(text, LIMIT).hits)
    return hits


def searches(livedex: Engine, corpus: Path) -> None:
    """Print the place of the wanted file of each search; `-` where it is not among the first."""
    every = [path.relative_to(corpus).as_posix() for path in corpus.rglob("*") if path.is_file()]
    places = []
    for query, globs in SEARCHES:
        wanted = {path for one in globs.split("|") for path in fnmatch.filter(every, one)}
        if not wanted:
            continue
        files = list(dict.fromkeys(hit["relative_path"] for hit in found(livedex, query)))
        place = next((number for number, path in enumerate(files, 1) if path in wanted), 0)
        places.append(place)
        print(f"{place or '-':>4}  {query}")
    first = sum(place == 1 for place in places)
    print(
        f"{len(places)} searches: {first} at place 1, {sum(0 < place <= 5 for place in places)} among the first five\n"
    )


def definitions_of(livedex: Engine, names: Sequence[Name]) -> None:
    """Print at which place the chunk with the definition of a name is."""
    places: dict[str, list[int]] = {}
    for one in names:
        hits = found(livedex, one.name)
        place = next(
            (
                number
                for number, hit in enumerate(hits, 1)
                if hit["relative_path"] == one.path and hit["start_line"] <= one.line <= hit["end_line"]
            ),
            0,
        )
        places.setdefault(one.kind, []).append(place)
    places["all"] = [place for those in places.values() for place in those]
    print(f"{'definition at place':<20} {'n':>4}", *(f"{name:>8}" for name, _ in _PLACES), f"{'nowhere':>8}")
    for kind, those in places.items():
        counts = [sum(place in span for place in those) for _, span in _PLACES]
        print(f"{kind:<20} {len(those):>4}", *(f"{count:>8}" for count in (*counts, those.count(0))))


if __name__ == "__main__":
    raise SystemExit(main())
