"""Changes by several workers at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.index.catalogs import catalog
from tests.strategies.words_encoder import WordsEncoder
from toolsearch.index.encoding import BATCH
from toolsearch.index.tool_index import ToolIndex
from toolsearch.protocols import Role


class Meddled(WordsEncoder):
    """An encoder during whose work another worker gives back what no reader needs."""

    other: ToolIndex | None = None

    def encode(self, texts: Sequence[str], role: Role) -> np.ndarray:
        if role == "tool" and self.other is not None:
            self.other._writer.collect()
        return super().encode(texts, role)


def test_what_is_encoded_is_not_collected_by_others(tmp_path: Path) -> None:
    """Tools that are written while another worker collects are found by similarity as soon as they are there."""
    encoder = Meddled()
    ToolIndex.build(tmp_path / "i", catalog(3), encoder=encoder).close()
    with (
        ToolIndex.open(tmp_path / "i", encoder=encoder) as index,
        ToolIndex.open(tmp_path / "i", encoder=WordsEncoder()) as other,
    ):
        encoder.other = other
        index.upsert(catalog(2 * BATCH, start=3))
        for one in (index, other):
            unvectored = one.view().corpus.unvectored
            assert unvectored is None or not unvectored.any()
