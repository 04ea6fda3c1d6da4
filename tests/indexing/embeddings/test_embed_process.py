"""The process that embeds with a model: it may die, hang or be idle, and the next call goes on."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.made_model import write_model
from livedex_indexing.embeddings.embed_process import EmbedProcess
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable

pytest.importorskip("tokenizers", reason="the extra `semantic` is not installed")


@pytest.fixture
def process(tmp_path: Path) -> Iterator[EmbedProcess]:
    made = EmbedProcess("static", str(write_model(tmp_path / "model")), None, 30.0)
    yield made
    made.close()


def test_it_embeds_and_starts_again_after_its_death(process: EmbedProcess) -> None:
    before = process.embed(["car", "boat"])
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert process.embed(["car", "boat"]) == before
    process.end_if_idle(0.0)
    assert process.pid is None
    assert process.embed(["car"]) == before[:1]


def test_one_that_does_not_answer_is_ended(tmp_path: Path) -> None:
    process = EmbedProcess("static", str(write_model(tmp_path / "model")), None, 3.0)
    process.embed(["car"])
    pid = process.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(EmbedderUnavailable, match="in time"):
        process.embed(["car"])
    assert not os.path.exists(f"/proc/{pid}") or process.pid is None
    process.close()


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    process = EmbedProcess("static", str(tmp_path / "nowhere"), None, 30.0)
    with pytest.raises(EmbedderUnavailable, match="nowhere"):
        process.ready()
    assert process.pid is None
