"""The local embedders: what they find, how they cut, and that they refuse foreign files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from substrate.errors import InvalidInput, ModelUnavailable
from substrate.models import MANIFEST, MODELS, check_pin, model_path, verify_model
from substrate.retrieval.embedders import Embedder, Vectors, open_embedder
from substrate.retrieval.embedders.local import Ids
from substrate.retrieval.embedders.unigram import Unigram
from substrate.retrieval.embedders.wordpiece import WordPiece
from substrate.settings import Settings

ROOT = Path(__file__).parents[3]
MODELS_DIR = ROOT / ".models"

SENTENCES = [
    "Anna Weber became head of engineering in March 2021.",
    "The contract with Globex ends on 30 June 2025.",
    "Revenue was 12.4 million euros in 2023.",
    "The office in Lisbon was closed after the flood.",
    "Our backup runs every night at two o'clock.",
    "The laptop battery must be replaced after three years.",
    "Employees receive twenty-eight days of holiday per year.",
    "The cat of the porter sleeps on the printer.",
    "The new warehouse is being built near the harbour.",
    "Visitors must show their passport at the gate.",
]
QUESTIONS = [
    ("Wann endet der Vertrag mit Globex?", 1),
    ("Wie viele Urlaubstage haben die Angestellten?", 6),
    ("Wo schläft die Katze des Hausmeisters?", 7),
    ("À quelle heure la sauvegarde a-t-elle lieu la nuit ?", 4),
    ("Qui dirige l'ingénierie ?", 0),
    ("Où construit-on le nouvel entrepôt ?", 8),
    ("2023年的营业收入是多少？", 2),
    ("笔记本电脑的电池什么时候要更换？", 5),
    ("哪个办公室因洪水关闭了？", 3),
]


def local_settings(embedder: str, models_dir: Path = MODELS_DIR) -> Settings:
    return Settings.model_validate({"embedder": embedder, "models_dir": models_dir, "threads": 2})


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    return open_embedder(local_settings("minilm"))


@pytest.fixture(scope="module")
def e5() -> Embedder:
    return open_embedder(local_settings("e5-small"))


@pytest.fixture(params=["minilm", "e5-small"])
def local(request: pytest.FixtureRequest) -> Embedder:
    found: Embedder = request.getfixturevalue("minilm" if request.param == "minilm" else "e5")
    return found


def test_minilm_gives_the_similarities_of_its_model_card(minilm: Embedder) -> None:
    texts = ["That is a happy person", "That is a happy dog", "That is a very happy person", "Today is a sunny day"]
    vectors = minilm.passages(texts)
    np.testing.assert_allclose(vectors[0] @ vectors[1:].T, [0.695, 0.943, 0.257], atol=0.03)


def test_e5_finds_english_sentences_by_questions_in_other_languages(e5: Embedder) -> None:
    scores = e5.queries([question for question, _ in QUESTIONS]) @ e5.passages(SENTENCES).T
    found = scores.argmax(1).tolist()
    wrong = [question for (question, right), best in zip(QUESTIONS, found, strict=True) if best != right]
    assert not wrong


def test_e5_tells_passages_from_queries_and_minilm_does_not(e5: Embedder, minilm: Embedder) -> None:
    assert float(e5.queries(SENTENCES[:1])[0] @ e5.passages(SENTENCES[:1])[0]) < 0.99
    assert np.array_equal(minilm.queries(SENTENCES[:1]), minilm.passages(SENTENCES[:1]))


def test_names_and_shapes_are_those_stored_beside_vectors(e5: Embedder, minilm: Embedder) -> None:
    assert (e5.name, e5.dimension, e5.token_limit) == ("e5-small-int8@1", 384, 512)
    assert (minilm.name, minilm.dimension, minilm.token_limit) == ("minilm-int8@1", 384, 256)


def test_vectors_are_float32_of_length_one_in_the_order_of_the_texts(local: Embedder) -> None:
    texts = [*SENTENCES, "", "   ", "😀", "\x00\u200b", "a", "東京", "\ud800 lone half"]
    vectors = local.passages(texts)
    assert vectors.shape == (len(texts), local.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.array_equal(vectors[::-1], local.passages(texts[::-1]))
    assert local.passages([]).shape == (0, local.dimension)


def test_a_text_has_the_same_vector_alone_as_among_others(local: Embedder) -> None:
    texts = ["Short.", "Small.", "Brief.", "", "😀", *SENTENCES, "word " * 400, "One more.", "Two more.", "Ten more."]
    alone = np.vstack([local.passages([text]) for text in texts])
    assert np.array_equal(local.passages(texts), alone)


def test_a_batch_in_the_graph_itself_changes_nothing_either(e5: Embedder) -> None:
    """One scale per token: padding and neighbours do not shift the int8 activations."""
    ids = np.array([[0, 35378, 8999, 2, 1, 1], [0, 35378, 8999, 35378, 8999, 2]], np.int64)
    mask = np.array([[1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1]], np.int64)

    def run(ids: Ids, mask: Ids) -> Vectors:
        found: Vectors = e5._sessions.each.run(["embedding"], e5._feeds(ids, mask))[0]  # type: ignore[attr-defined]
        return found

    both = run(ids, mask)
    np.testing.assert_allclose(both[0], run(ids[:1, :4], mask[:1, :4])[0], atol=1e-5)
    np.testing.assert_allclose(both[1], run(ids[1:], mask[1:])[0], atol=1e-5)


def test_threads_may_share_one_embedder(local: Embedder) -> None:
    alone = local.passages(SENTENCES)
    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(local.passages, [SENTENCES] * 8):
            assert np.array_equal(vectors, alone)


def test_what_lies_beyond_the_limit_is_cut_and_counted(local: Embedder) -> None:
    assert local.token_limit is not None
    before = local.truncated
    inside = "word " * (local.token_limit - 10)
    assert local.count_tokens(inside) <= local.token_limit
    local.passages([inside])
    assert local.truncated == before
    beyond = "word " * 3000
    assert local.count_tokens(beyond) > 3000
    vectors = local.passages([beyond, "fits", beyond + "another end"])
    assert local.truncated == before + 2
    assert np.array_equal(vectors[0], vectors[2])


@pytest.mark.timeout(120)
def test_a_megabyte_without_a_space_is_embedded_in_reasonable_time(local: Embedder) -> None:
    assert np.isfinite(local.passages(["東京都" * 300_000, "x" * 1_000_000])).all()


def test_a_lone_string_is_refused_as_a_list_of_letters(local: Embedder) -> None:
    with pytest.raises(InvalidInput, match="texts"):
        local.passages("abc")
    with pytest.raises(InvalidInput, match=r"texts\[1\]"):
        local.queries(["a", None])  # type: ignore[list-item]


def tokenizer_of(embedder: Embedder) -> Unigram | WordPiece:
    found: Unigram | WordPiece = embedder._tokenizer  # type: ignore[attr-defined]
    return found


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", [0, 2]),
        ("Hello world", [0, 35378, 8999, 2]),
        ("  Hello\t\n world ", [0, 35378, 8999, 2]),
        ("Ｈｅｌｌｏ\u3000ｗｏｒｌｄ", [0, 35378, 8999, 2]),
    ],
)
def test_unigram_gives_the_ids_of_xlm_roberta(e5: Embedder, text: str, ids: list[int]) -> None:
    assert tokenizer_of(e5).encode(text).ids == ids


def test_unigram_composes_and_merges_unknown_characters(e5: Embedder) -> None:
    tokens = tokenizer_of(e5)
    for text in ("Zürich café naïve", "한국어"):
        decomposed = unicodedata.normalize("NFD", text)
        assert decomposed != text
        assert tokens.encode(decomposed) == tokens.encode(text)
    assert tokens.encode("ﾊﾞｽ") == tokens.encode("バス")
    unknown = "\U000e0100"
    assert tokens.encode(unknown * 5) == tokens.encode(unknown)
    assert 3 in tokens.encode(unknown).ids


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", [101, 102]),
        ("Hello, WORLD!", [101, 7592, 1010, 2088, 999, 102]),
        ("he\u0301llo wo\u200brld\x00", [101, 7592, 2088, 102]),
        ("H\u00e9llo\u00a0world", [101, 7592, 2088, 102]),
        ("unaffable", [101, 14477, 20961, 3468, 102]),
        ("x" * 101, [101, 100, 102]),
    ],
)
def test_wordpiece_gives_the_ids_of_bert(minilm: Embedder, text: str, ids: list[int]) -> None:
    assert tokenizer_of(minilm).encode(text).ids == ids


def test_wordpiece_reads_markers_in_a_text_as_text(minilm: Embedder) -> None:
    ids = tokenizer_of(minilm).encode("[SEP] [CLS] 😀 東京").ids
    assert ids[1:-1].count(101) == ids[1:-1].count(102) == 0


@pytest.mark.parametrize("name", list(MODELS))
def test_every_byte_of_the_built_models_is_the_recorded_one(name: str) -> None:
    verify_model(MODELS_DIR, name)
    for pin in MODELS[name].inputs:
        check_pin(MODELS_DIR, pin)


def test_an_absent_or_unknown_model_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="make models"):
        open_embedder(local_settings("e5-small", tmp_path))
    with pytest.raises(ModelUnavailable, match="en_core_web_sm"):
        model_path(local_settings("minilm", tmp_path), "large")


def flip_last_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("name", ["vocab.txt", "encoder.int8.onnx"])
def test_one_changed_bit_is_refused(tmp_path: Path, name: str) -> None:
    shutil.copytree(MODELS_DIR / "minilm", tmp_path / "minilm")
    settings = local_settings("minilm", tmp_path)
    for path in (tmp_path / "minilm").iterdir():
        os.utime(path)  # another time alone is no reason to refuse
    assert model_path(settings, "minilm") == tmp_path / "minilm"
    flip_last_byte(tmp_path / "minilm" / name)
    with pytest.raises(ModelUnavailable, match=name):
        open_embedder(settings)


def test_a_change_that_keeps_size_and_time_is_found_by_the_full_check(tmp_path: Path) -> None:
    shutil.copytree(MODELS_DIR / "minilm", tmp_path / "minilm")
    vocabulary = tmp_path / "minilm" / "vocab.txt"
    status = vocabulary.stat()
    flip_last_byte(vocabulary)
    os.utime(vocabulary, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(ModelUnavailable, match=r"vocab\.txt"):
        verify_model(tmp_path, "minilm")


def test_another_weight_file_of_the_same_size_is_refused(tmp_path: Path) -> None:
    (pin,) = MODELS["e5-small"].inputs
    shutil.copytree(MODELS_DIR / "e5-small", tmp_path / "e5-small")
    foreign = tmp_path / pin.path
    foreign.parent.mkdir(parents=True)
    foreign.touch()
    os.truncate(foreign, pin.size)
    with pytest.raises(ModelUnavailable, match="e5-small-q4"):
        open_embedder(local_settings("e5-small", tmp_path))
    with pytest.raises(ModelUnavailable, match="not the file that was measured"):
        check_pin(tmp_path, pin)


def test_a_model_of_an_older_recipe_is_refused(tmp_path: Path) -> None:
    shutil.copytree(MODELS_DIR / "minilm", tmp_path / "minilm")
    manifest = tmp_path / "minilm" / MANIFEST
    written = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(written | {"recipe": 0}))
    with pytest.raises(ModelUnavailable, match="another version"):
        open_embedder(local_settings("minilm", tmp_path))
    manifest.write_text("{")
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        open_embedder(local_settings("minilm", tmp_path))


def run_build(models_dir: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools" / "build_models.py"), "--models-dir", str(models_dir)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_the_build_is_repeatable_does_nothing_twice_and_refuses_foreign_wheels(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.symlink_to(MODELS_DIR / "wheels")
    first = run_build(tmp_path)
    assert first.returncode == 0, first.stderr
    for name in MODELS:
        built, ours = (json.loads((base / name / MANIFEST).read_text()) for base in (tmp_path, MODELS_DIR))
        assert {path: entry["sha256"] for path, entry in built["outputs"].items()} == {
            path: entry["sha256"] for path, entry in ours["outputs"].items()
        }
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*MODELS, "wheels"])
    assert [line.split(": ")[1] for line in run_build(tmp_path).stdout.splitlines()] == ["current"] * 3

    shutil.rmtree(tmp_path / "minilm")
    wheels.unlink()
    pin = MODELS["minilm"].inputs[0]
    for path in (pin.path, MODELS["e5-small"].inputs[0].path):
        (tmp_path / path).parent.mkdir(parents=True)
    shutil.copy2(MODELS_DIR / MODELS["e5-small"].inputs[0].path, tmp_path / MODELS["e5-small"].inputs[0].path)
    (tmp_path / pin.path).write_bytes(b"foreign")
    refused = run_build(tmp_path)
    assert refused.returncode == 1
    assert "model.safetensors is not the file that was measured" in refused.stderr
    assert not (tmp_path / "minilm").exists()
