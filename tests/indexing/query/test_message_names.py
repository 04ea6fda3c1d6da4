"""Which names a message or a line of code is about, and that prose which mentions names is neither."""

from __future__ import annotations

import pytest

from livedex_indexing.query.message_names import has_plain_name, is_doubtful, is_mention, is_message, names_in_message


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('error: Name "walk" is not defined  [name-defined]', "walk"),
        ("undefined reference to `walk'", "walk"),
        ("error: ‘walk’ undeclared (first use in this function)", "walk"),
        ("error[E0432]: unresolved import `crate::walk`", "walk"),
        ("error: 'struct tree' has no member named 'walk'", "walk"),
        ("AttributeError: 'Tree' object has no attribute 'walk'", "walk"),
        ("error TS2339: Property 'walk' does not exist on type 'Tree'.", "walk"),
        ("no method named walk found for struct Tree", "walk"),
        ("what happens in `walk` when it fails", "walk"),
        ("undefined: walk", "walk"),
        ("value walk is not a member of forest.Tree", "walk"),
        ("walk redeclared in this block", "walk"),
        ("ld: error: undefined symbol: walk", "walk"),
        ("bash: walk: command not found", "walk"),
        ("ReferenceError: walk is not defined", "walk"),
        ("DeepWalk.DoesNotExist: DeepWalk matching query does not exist.", "DeepWalk"),
        ("error: cannot find symbol\n  symbol:   class Walk\n  location: class Tree", "Walk"),
        ("Call to undefined function walk()", "walk"),
        ("impl Tree for Walk", "Walk"),
        ("struct walk {", "walk"),
        ("class Walk extends Tree", "Walk"),
        ("public static void walk(", "walk"),
        ("pub async fn walk(self, deep: bool) -> bool {", "walk"),
        ("CREATE TABLE walks (", "walks"),
        ("#define WALK", "WALK"),
        ("type Walk =", "Walk"),
        ("steps = walk(tree)", "walk"),
        ("from trees import walk", "walk"),
        ("import { walk } from './trees'", "walk"),
        ("use trees::walk;", "walk"),
        ("no matching function for call to 'walk(int)'", "walk"),
    ],
)
def test_the_name_that_a_message_or_a_line_of_code_is_about(text: str, name: str) -> None:
    assert next(found.name for found in names_in_message(text)) == name


@pytest.mark.parametrize(
    "text",
    [
        "walk",
        "walk(tree)",
        "fix a crash in walk_tree",
        "use walk for trees",
        "walkTree deepTree tree",
        "walk_tree() returns nothing where the tree is empty",
        "remove the redundant function call",
        "it's the dog's walk",
        "no module for 'None'",
        "'walk' " * 60,
        "return a walk in the 'tree' state",
    ],
)
def test_texts_without_such_a_name(text: str) -> None:
    assert names_in_message(text) == ()


@pytest.mark.parametrize(
    ("text", "doubtful"),
    [
        ("error: no such format 'width'", True),
        ("undefined: width", True),
        ("no such format 'maxWidth'", False),
        ("def width(line):", False),
    ],
)
def test_a_plain_word_may_be_a_value(text: str, doubtful: bool) -> None:
    assert is_doubtful(text) is doubtful


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("error: no such format 'width'", True),
        ("error: no such attribute 'width'", False),
        ("TypeError: max_width() missing an argument: 'y'", False),
    ],
)
def test_a_plain_word_is_a_name_where_a_message_calls_it_one(text: str, plain: bool) -> None:
    assert has_plain_name(text) is plain


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("TypeError: max_width() missing an argument", True),
        ("'maxWidth' is assigned a value but never used", True),
        ("steps = walk_tree(tree, 'maxWidth')", False),
        ("walk_tree(tree)\nmaxWidth = tree.width", False),
    ],
)
def test_a_line_of_code_is_no_message(text: str, message: bool) -> None:
    assert is_message(text) is message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("moor all of the ships that are in `berth` at the end of the day", True),
        ("error: the method `berth` is not in scope for the harbour", False),
        ("cannot find the method `berth` in a harbour that is shut", False),
        ("berth(ship) if it is not in the harbour and has a crew", False),
        ("method `berth` not known", False),
        ("tests/test_ship.py::TestShip::test_berth[a-b-1] PASSED [ 40%]", False),
    ],
)
def test_prose_that_reports_no_fault_only_mentions_its_names(text: str, expected: bool) -> None:
    assert is_mention(text) is expected


def test_a_function_of_erlang_has_its_module() -> None:
    first = names_in_message("exception error: undefined function tree:walk/2")[0]
    assert (first.owner, first.name) == ("tree", "walk")
    assert names_in_message("undefined: see 10:30/2") == ()


@pytest.mark.parametrize(
    ("text", "owner", "name"),
    [
        ("AttributeError: 'Tree' object has no attribute 'walk'", "Tree", "walk"),
        ("value of type 'Tree' has no member 'walk'", "Tree", "walk"),
        ("The method 'walk' isn't defined for the type 'Tree'", "Tree", "walk"),
        ("value walk is not a member of forest.Tree", "Tree", "walk"),
        ("error: 'struct tree' has no member named 'walk'", "", "walk"),
        ("cannot import name 'walk' from 'tree'", "", "walk"),
    ],
)
def test_the_type_that_a_message_says_lacks_a_name_is_its_owner(text: str, owner: str, name: str) -> None:
    first = names_in_message(text)[0]
    assert (first.owner, first.name) == (owner, name)
