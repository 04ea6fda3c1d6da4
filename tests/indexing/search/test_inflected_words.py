"""Words in other forms than texts have them, in languages besides English, and two words that texts write as one."""

from __future__ import annotations

import os
import re
import sysconfig
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.indexed_folder import Indexed
from livedex_indexing.query.inflections import have_one_stem, usual_words

TEXTS = {
    "de/bau.md": "Die Häuser sind alt, und eine Werkstatt wird gebaut, nicht abgerissen oder verkauft.",
    "de/Brunnen.md": "Hier wird gegraben, und nicht tief. Oder eine Quelle reicht aus.",
    "de/bild.md": "Eine Momentaufnahme des Systems wird gemacht und nicht oder selten gelöscht.",
    "de/amt.md": "Der Arbeitsplatz wird geräumt und eine Liste geschrieben, nicht oder später.",
    "de/haupt.md": "Ein Haupt, Platz: eine Bank und nicht mehr. Oder es wird anders.",
    "de/ort.md": "Am Hauptplatz wird gebaut, und eine Kirche oder nicht.",
    "es/texto.md": "Los archivos se guardan aquí. Una copia y las otras, pero esta no, cuando cambian.",
    "fr/page.md": "Elle utilise une machine dans la cour avec cette clé qui tourne. Ils sont rares.",
    "it/coda.md": "La fila della posta, una che sono solito evitare. Gli uffici nel centro.",
    "el/arheio.md": "Το αρχείο της σελίδας και του βιβλίου για εσάς που είναι στο τέλος.",
    "hi/tasvir.md": "यह तस्वीरें है और नहीं। फ़ोल्डर में के।",
    "hr/tekst.md": "Ovo je mreža koji nije spora ili kako brza ako samo treba.",
    "sr/tekst.md": "Ово је мрежа који није спора или како брза ако само треба.",
    "ar/kitab.md": "هذا الكتاب في المكتبة على الرف من التي أو",
    "uk/merezha.md": "Ця мережа, що або це для вас, не як інші.",
    "ru/kniga.md": "Это новая книга, что лежит на столе, для чтения как пример или не для него.",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("forms")) as made:
        for path, text in TEXTS.items():
            made.write(f"root/{path}", text + "\n")
        for number in range(20):
            made.write(f"root/en/{number}.md", f"This is file {number} of the list, and it has a platform.\n")
        yield made


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("Haus", "de/bau.md"),
        ("hauses", "de/bau.md"),
        ("alte Häusern", "de/bau.md"),
        ("archivo", "es/texto.md"),
        ("archivar", "es/texto.md"),
        ("utilisé", "fr/page.md"),
        ("книгу", "ru/kniga.md"),
        ("Brunnens", "de/Brunnen.md"),
        ("αρχεια", "el/arheio.md"),
        ("तस्वीर", "hi/tasvir.md"),
        ("mrežom", "hr/tekst.md"),
        ("мрежом", "sr/tekst.md"),
        ("كتاب", "ar/kitab.md"),
        ("мережею", "uk/merezha.md"),
    ],
)
def test_another_form_is_found(index: Indexed, query: str, path: str) -> None:
    answer = index.ask(query)
    assert [hit["relative_path"] for hit in answer.hits] == [path]
    assert "did_you_mean" not in answer.extras


@pytest.mark.parametrize(
    ("left", "right", "is_one"),
    [
        ("мережа", "мережею", True),
        ("мережа", "мережах", True),
        ("мережа", "мережевий", False),
        ("мережа", "межа", False),
        ("програма", "програміст", True),
        ("програма", "програвати", False),
        ("час", "часи", False),
        ("параметр", "парасолька", False),
    ],
)
def test_forms_without_a_stemmer_begin_alike(left: str, right: str, is_one: bool) -> None:
    assert have_one_stem(left, right) is have_one_stem(right, left) is is_one


def test_the_typed_form_comes_first(tmp_path: Path) -> None:
    with Indexed(tmp_path) as made:
        for number, word in enumerate(["Häuser", "Hause", "Haus", "Hauses", "Häusern"]):
            made.write(f"root/{number}.md", f"Hier wird {word} gemalt und nicht eine Tür oder ein Tor.\n")
        assert made.found("Haus")[0] == "2.md"
        assert made.found("Tor Hauses")[0] == "3.md"
        assert (len(made.found("Haus")), made.ask("Haus", total=True).extras["total"]) == (5, {"hits": 5, "files": 5})


def test_short_notes_tell_their_language(tmp_path: Path) -> None:
    with Indexed(tmp_path) as made:
        made.write("root/a.md", "Die Häuser und eine Straße.\n")
        made.write("root/b.md", "Alte Mauern.\n")
        assert made.found("Haus") == ["a.md"]


def test_a_form_is_highlighted(index: Indexed) -> None:
    (hit,) = index.search("archivo guardar")
    text = hit["snippet"]
    assert {text[start:end] for start, end in hit["highlights"]} == {"archivos", "guardan"}


def test_a_word_of_english_texts_has_no_forms(index: Indexed) -> None:
    found = index.found("file", limit=50)
    assert len(found) == 20
    assert "it/coda.md" not in found


def test_what_is_left_out_is_left_out_as_typed(index: Indexed) -> None:
    assert index.found("alt -Haus") == ["de/bau.md"]
    assert index.found("alt -Häuser") == []


@pytest.mark.parametrize(
    ("query", "path"), [("Moment Aufnahme", "de/bild.md"), ("Arbeit Platz", "de/amt.md"), ("plat form", "en/")]
)
def test_words_that_texts_write_as_one(index: Indexed, query: str, path: str) -> None:
    assert index.found(query)[0].startswith(path)


def test_words_that_a_text_has_in_a_row_are_not_joined(index: Indexed) -> None:
    assert index.found("Haupt Platz") == ["de/haupt.md"]


def test_no_usual_word_of_a_language_is_usual_in_english_or_code() -> None:
    """Else words of English texts would get the forms of that language: `fixme` those with `fixm`."""
    sources = []
    for folder, folders, names in os.walk(sysconfig.get_path("stdlib")):
        folders[:] = {*folders} - {"site-packages", "encodings"}  # what else is installed, and tables of characters
        sources += [Path(folder, name).read_bytes().lower() for name in names if name.endswith(".py")]
    files = Counter(word for source in sources for word in set(re.findall(rb"[a-z]+", source)))
    assert files[b"see"] > len(sources) / 20
    assert {word for word in usual_words() if files[word.encode()] > len(sources) / 20} == set()
