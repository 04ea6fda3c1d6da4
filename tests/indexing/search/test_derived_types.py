"""A question for what is derived from a type leads to the lines that derive one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import LINES, Indexed

FILLER = "".join(f"# a step {number}\n" for number in range(2 * LINES))


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("harbour")) as made:
        made.write("root/base.py", f"class Vessel:\n    pass\n\n\nclass Anchor:\n    pass\n{FILLER}")
        made.write("root/tug.py", f"{FILLER}class Tug(base.Vessel, Thing):\n    pass\n{FILLER}")
        made.write(
            "root/Ferry.java", f"{FILLER}public final class Ferry<T> extends Hull implements Floats {{\n{FILLER}"
        )
        made.write("root/raft.rs", f"{FILLER}impl<T> fmt::Drift for Raft<T> {{\n{FILLER}")
        made.write("root/yacht.rb", f"{FILLER}class Sea::Yacht < Sail::Rig\nend\n{FILLER}")
        made.write("root/barge.cpp", f"{FILLER}class Barge : public sea::Keel {{\n{FILLER}")
        for number, name in enumerate(("Vessel", "Hull", "Floats", "Drift", "Rig", "Keel", "Anchor")):
            made.write(f"root/use{number}.py", f"a = {name}()\n# the class {name} has subclasses\n" * 9)
            made.write(f"root/page{number}.md", f"The {name}: classes and a class of {name}.\n" * 9)
        yield made


@pytest.mark.parametrize(
    ("query", "path", "line"),
    [
        ("subclasses of Vessel", "tug.py", "class Tug"),
        ("what inherits from Vessel?", "tug.py", "class Tug"),
        ("all classes that extend Hull", "Ferry.java", "class Ferry"),
        ("implementations of the interface Floats", "Ferry.java", "class Ferry"),
        ("who implements Drift", "raft.rs", "for Raft"),
        ("children of Rig", "yacht.rb", "class Sea::Yacht"),
        ("derived classes of `Keel`", "barge.cpp", "class Barge"),
    ],
)
def test_the_derived_type_comes_first(harbour: Indexed, query: str, path: str, line: str) -> None:
    hit = harbour.search(query)[0]
    assert (hit["relative_path"], line in hit["snippet"]) == (path, True)


def test_without_a_derived_type_the_words_count(harbour: Indexed) -> None:
    assert "Anchor" in harbour.search("subclasses of Anchor")[0]["snippet"]


def test_a_class_that_is_only_called_like_it_is_not_derived(harbour: Indexed) -> None:
    assert harbour.search("subclasses of Thin")[0]["relative_path"] != "tug.py"
