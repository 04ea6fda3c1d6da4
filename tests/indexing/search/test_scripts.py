"""Words of scripts other than Latin, as they are typed and as texts have them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import Indexed

TEXTS = {
    "zh/wang.md": "打开网络设置。如果网速很慢，请检查路由器。",
    "zh/yin.md": "打开声音设置，选择音量。",
    "ko/saek.md": "프로파일을 고르고 창을 닫습니다.",
    "ja/oto.md": "サウンドの設定を開きます。再生中にノイズがあります。",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("scripts")) as made:
        for path, text in TEXTS.items():
            made.write(f"root/{path}", text + "\n")
        yield made


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("网速感觉很慢", "zh/wang.md"),  # words that no text has in a row
        ("音量设置", "zh/yin.md"),
        ("프로파일이", "ko/saek.md"),  # another particle
        ("ノイズが再生", "ja/oto.md"),
    ],
)
def test_a_run_that_is_nowhere_is_found_by_its_words(index: Indexed, query: str, path: str) -> None:
    assert index.found(query)[:1] == [path]
