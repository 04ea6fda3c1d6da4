"""A date finds the files that have it, in whatever form it was typed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import Indexed


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("dates")) as made:
        for day in range(1, 10):
            made.write(f"root/journal/2024-03-0{day}.md", f"Watered the plants of March, {day} of them in 2024.\n")
            made.write(f"root/notes{day}.md", f"On {day} plants in March 2024 or May 5: see 2024-03-05 and others.\n")
        made.write("root/mail.txt", "Sent on March 5 2024: water the plants.\n" * 3)
        made.write("root/history.txt", "Version 2 of 5 April 2023: the garden.\nVersion 1 of 2023-04-04: the seeds.\n")
        made.write("root/log.txt", "2023-06-07 rain\n")
        made.write("root/rain.txt", "It rained on 7 June 2023.\n")
        made.write("root/visits.txt", "Anna came on 8 Aug 2022.\nBert came on 2022-09-01.\nCarl came on May 2, 2022.\n")
        made.write("root/journal/2022-08-08.md", "Rain all day.\n")
        made.write("root/sun.txt", "2022-05-03 sun\n" * 3)
        yield made


@pytest.mark.parametrize(
    "query", ["March 5 2024", "5 March 2024", "Mar 5th, 2024", "5.3.2024", "3/5/2024", "20240305", "5. März 2024"]
)
def test_a_file_that_is_named_after_it_comes_first(index: Indexed, query: str) -> None:
    assert index.found(query)[0] == "journal/2024-03-05.md"


def test_the_date_among_words_is_written_so_too(index: Indexed) -> None:
    answer = index.ask("plants March 5, 2024")
    assert answer.hits[0]["relative_path"] == "journal/2024-03-05.md"
    assert answer.extras["did_you_mean"]["query"] == "plants 2024-03-05"


@pytest.mark.parametrize(
    ("query", "meant"), [("2023-04-05", "5 April 2023"), ("4/4/2023", "2023-04-04"), ("4 Apr 2023", "2023-04-04")]
)
def test_a_date_inside_a_text_is_found_as_it_is_written(index: Indexed, query: str, meant: str) -> None:
    answer = index.ask(query)
    assert answer.hits[0]["relative_path"] == "history.txt"
    assert answer.extras["did_you_mean"]["query"] == meant


def test_a_date_as_files_have_it_stays(index: Indexed) -> None:
    assert "did_you_mean" not in index.ask("5 April 2023").extras
    assert index.found("7 June 2023")[0] == "rain.txt"
    assert "did_you_mean" not in index.ask("2024-03-05").extras


def test_a_date_that_no_file_has_leaves_the_words(index: Indexed) -> None:
    answer = index.ask("garden 7.7.2021")
    assert "did_you_mean" not in answer.extras
    assert answer.hits[0]["relative_path"] == "history.txt"


def test_a_form_counts_that_stands_with_the_other_words(index: Indexed) -> None:
    answer = index.ask("Anna 2022-08-08")
    assert answer.hits[0]["relative_path"] == "visits.txt"
    assert answer.extras["did_you_mean"]["query"] == "Anna 8 Aug 2022"
    assert index.found("rain August 8, 2022")[0] == "journal/2022-08-08.md"


def test_a_month_is_found_in_the_dates_of_its_days(index: Indexed) -> None:
    answer = index.ask("September 2022")
    assert answer.hits[0]["relative_path"] == "visits.txt"
    assert answer.extras["did_you_mean"]["query"] == "2022-09"


def test_a_month_with_a_day_between_its_words_stays(index: Indexed) -> None:
    answer = index.ask("May 2022")
    assert answer.hits[0]["relative_path"] == "visits.txt"
    assert "did_you_mean" not in answer.extras


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("March 5", "journal/2024-03-05.md"),
        ("5 mar", "journal/2024-03-05.md"),
        ("8 August", "journal/2022-08-08.md"),
        ("7. Juni", "rain.txt"),
        ("plants 7 march", "journal/2024-03-07.md"),
    ],
)
def test_a_day_without_its_year(index: Indexed, query: str, path: str) -> None:
    assert index.found(query)[0] == path


@pytest.mark.parametrize(
    "query", ["week 10", "KW 10", "week 10 2024", "2024-W10", "plans of week 10", "rain week 10 2023"]
)
def test_a_week(index: Indexed, query: str) -> None:
    index.write("root/weekly/2023-W10.md", "Rain.\n")
    index.write("root/weekly/2024-W10.md", "Plans.\n")
    index.write("root/weekly/2024-W11.md", "Plans of 10 plants, the week after.\n")
    assert index.found(query)[0] == f"weekly/{2023 if '2023' in query else 2024}-W10.md"


def test_of_several_years_the_newest_counts(index: Indexed) -> None:
    index.write("root/journal/2023-03-05.md", "Rain.\n")
    answer = index.ask("5th of March")
    assert answer.hits[0]["relative_path"] == "journal/2024-03-05.md"
    assert answer.extras["did_you_mean"]["query"] == "2024-03-05"
    assert index.found("rain March 5")[0] == "journal/2023-03-05.md"
