"""Any model of sentence-transformers, by folder or hub name: `st:intfloat/multilingual-e5-small`, extra `st`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, cast

from toolsearch.encoders.naming import model_name, prompts_text
from toolsearch.encoders.optional import optional
from toolsearch.encoders.prompts import Prompts, known_prompts
from toolsearch.encoders.texts import readable, spoken, spread, unit
from toolsearch.errors import EncoderFailed, InvalidInput, MissingExtra

if TYPE_CHECKING:
    from toolsearch.protocols import Floats, Role

OPTIONS: Final = ("query", "tool", "revision")
MAX_CHARACTERS: Final = 40_000
"""What is read of a text before the model's own limit of tokens."""
CHUNK: Final = 1 << 20


class TransformerEncoder:
    """A sentence-transformers model. May be shared between threads, which take turns.

    `name` is a folder or a name on the hub, with options: `query` and `tool` (prompts; otherwise those that the
    model declares, otherwise those known for its name) and `revision`. A hub model that is not on this machine
    is downloaded by sentence-transformers, because it was named; code from the hub is never run. Each text is
    run alone: float sums depend on the batch and on padding. Blank texts have the zero vector.

    Raises:
        InvalidInput: the name is malformed, or is a path at which there is no folder.
        MissingExtra: sentence-transformers is not installed.
    """

    def __init__(self, name: str) -> None:
        self._name = model_name(name, OPTIONS)
        self._folder = _folder(self._name.model)
        if find_spec("sentence_transformers") is None:
            raise MissingExtra("sentence-transformers", "st")
        self._opened: Any = None
        self._lock = RLock()

    @property
    def _model(self) -> Any:
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
        return self._opened

    def _open(self) -> Any:
        made = optional("sentence_transformers", "sentence-transformers", "st").SentenceTransformer
        try:
            return made(
                str(self._folder or self._name.model),
                revision=self._name.options.get("revision"),
                local_files_only=self._folder is not None,
                trust_remote_code=False,
            )
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            reason = " ".join(str(error).split())[:300]
            raise EncoderFailed(f"cannot open the model {self._name.model[:80]!r}: {reason}") from error

    @cached_property
    def _prompts(self) -> Prompts:
        declared = cast("Mapping[str, str]", self._model.prompts or {})
        known = known_prompts(self._name.model)
        tool = next((declared[key] for key in ("document", "passage", "corpus") if declared.get(key)), known.tool)
        return self._name.prompts(Prompts(declared.get("query") or known.query, tool))

    @cached_property
    def _revision(self) -> str:
        if self._folder is not None:
            return _digest(self._folder)
        asked = self._name.options.get("revision", "main")
        return cached_commit(self._name.model, asked) or asked

    @cached_property
    def id(self) -> str:
        """Model, revision (a folder's content), dimension and prompts. Loads the model."""
        model = self._folder.name if self._folder is not None else self._name.model
        end = f"dim={self.dimension};{prompts_text(self._prompts)};unit"  # first: a download decides the revision
        return f"st:{model}@{self._revision[:16]};{end}"

    @cached_property
    def dimension(self) -> int:
        """Length of a vector. Loads the model.

        Raises:
            EncoderFailed: the model cannot be opened.
        """
        return int(self._rows(["dimension"], "query").shape[1])

    def encode(self, texts: Sequence[str], role: Role) -> Floats:
        """Vectors, (len(texts), dimension) float32, unit length, or zero for a blank text.

        Raises:
            EncoderFailed: the model cannot be opened, or gave something that is no vector.
        """
        positions = spoken(texts)
        rows = self._rows([readable(texts[position], MAX_CHARACTERS) for position in positions], role)
        return spread(rows, positions, len(texts))

    def _rows(self, texts: list[str], role: Role) -> Floats:
        import numpy as np

        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        with self._lock:
            encode = self._model.encode_query if role == "query" else self._model.encode_document
            prompt = self._prompts.of(role)
            rows = encode(texts, prompt=prompt, batch_size=1, convert_to_numpy=True, show_progress_bar=False)
        return unit(rows, f"the model {self._name.model[:80]!r}")


def _folder(model: str) -> Path | None:
    """The folder that a name means, None for a name on the hub."""
    path = Path(model).expanduser()
    if path.is_dir():
        return path.resolve()
    if model.startswith((".", "/", "~")) or "\\" in model:
        raise InvalidInput(f"there is no model folder {model[:200]!r}")
    return None


def cached_commit(model: str, revision: str, cache: Path | None = None) -> str | None:
    """The commit of a hub model that lies in the hub's cache (None: the machine's own); None when it does not."""
    find = optional("huggingface_hub", "huggingface-hub", "st").try_to_load_from_cache
    repository = model if "/" in model else f"sentence-transformers/{model}"
    for name in ("modules.json", "config.json"):
        path = find(repository, name, revision=revision, cache_dir=cache)
        if isinstance(path, str):
            return Path(path).parent.name
    return None


def _digest(folder: Path) -> str:
    """SHA-256 over the names and the content of a folder's files, hexadecimal."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        total.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            while piece := file.read(CHUNK):
                total.update(piece)
    return total.hexdigest()
