"""Names of encoders."""

from __future__ import annotations

import pytest

from toolsearch.encoders import open_encoder
from toolsearch.encoders.builtin import BuiltinEncoder
from toolsearch.errors import InvalidInput


def test_builtin_is_the_encoder_in_the_package() -> None:
    """The default needs no more than its name."""
    encoder = open_encoder("builtin")
    assert isinstance(encoder, BuiltinEncoder)
    assert encoder.dimension == 448


@pytest.mark.parametrize("name", ["", "bultin", "builtin:x", "x" * 10_000])
def test_an_unknown_name_is_answered_with_the_known_ones(name: str) -> None:
    """The error shows the name, cut, and what there is."""
    with pytest.raises(InvalidInput, match="builtin") as caught:
        open_encoder(name)
    assert len(str(caught.value)) < 500
