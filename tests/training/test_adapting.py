"""A map of requests' vectors, learnt from what searches led to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from toolsearch import ToolIndex, ToolSpec
from toolsearch.encoders.adapted import FILE, Adaptation, AdaptedEncoder, request_id
from toolsearch.encoders.cached import CachedEncoder
from toolsearch.errors import InvalidInput, InvalidSource
from toolsearch.evaluation.comparison import compare
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.strategies.calibration import Calibration
from toolsearch.training.adapting import LEAST, Adapted, adapt, parted

if TYPE_CHECKING:
    from toolsearch.protocols import Floats, Role

WIDTH = 24


class Slanted:
    """One direction for each number in a text; for requests the next one, which a map can put right."""

    id = "slanted"
    dimension = WIDTH

    def encode(self, texts: Sequence[str], role: Role) -> Floats:
        rows = np.zeros((len(texts), WIDTH), np.float32)
        for row, text in enumerate(texts):
            number = int(re.findall("[0-9]+", text)[-1])
            rows[row, (number + (role == "query")) % WIDTH] = 1
        return rows


class Straight(Slanted):
    """The same without the slant: nothing can be won."""

    def encode(self, texts: Sequence[str], role: Role) -> Floats:
        return super().encode(texts, "tool")


def index_with(encoder: Slanted, place: Path | None = None) -> ToolIndex:
    tools = [ToolSpec(name=f"tool_{number}", description=f"does thing {number}") for number in range(WIDTH)]
    return ToolIndex.build(place, tools, encoder=encoder) if place else ToolIndex.from_tools(tools, encoder=encoder)


def asked(count: int) -> list[JudgedQuery]:
    """Requests that share no word with their tool."""
    texts = [f"please {'abcdefghijkl'[place // WIDTH]} nr{place % WIDTH:03d}x" for place in range(count)]
    return [
        JudgedQuery(id=str(place), query=text, relevant={f"tool_{place % WIDTH}": 1})
        for place, text in enumerate(texts)
    ]


def test_what_searches_led_to_puts_a_slant_right() -> None:
    """Requests that all point beside their tool are moved onto it, also those that nothing was learnt from."""
    done = adapt(asked(6 * WIDTH), index_with(Slanted()))
    assert done.kept
    assert done.gain.mean > 20
    assert done.learnt + done.tested == 6 * WIDTH


def test_nothing_is_kept_where_nothing_can_be_won() -> None:
    """A search that is right already stays as it is."""
    done = adapt(asked(6 * WIDTH), index_with(Straight()))
    assert not done.kept
    assert done.gain.mean == 0


def test_too_few_requests_are_refused() -> None:
    """It is the requests left to test on that count: those asked before do not."""
    with pytest.raises(InvalidInput, match=f"12 are left to test on.*{LEAST} are needed"):
        adapt(asked(40), index_with(Slanted()))
    repeated = [*asked(100), *(replace(one, id=f"{one.id} again") for one in asked(100))]
    with pytest.raises(InvalidInput, match=" 0 are left to test on"):
        adapt(repeated, index_with(Slanted()))


def test_a_gain_on_one_request_is_not_clear() -> None:
    """An interval of one value, or few wins that the signs do not bear out, keep nothing."""
    none = Adaptation("slanted", np.zeros((WIDTH, WIDTH), np.float32))
    one = compare({"a": 0.0}, {"a": 0.5})
    few = compare({str(n): 0.0 for n in range(30)}, {str(n): float(n < 4) for n in range(30)})
    many = compare({str(n): 0.0 for n in range(30)}, {str(n): float(n < 9) for n in range(30)})
    assert few.low > 0
    assert [Adapted(adaptation=none, learnt=1, tested=1, gain=gain).kept for gain in (one, few, many)] == [
        False,
        False,
        True,
    ]


def test_the_map_is_tested_as_it_is_written(tmp_path: Path) -> None:
    """The file gives back the very numbers that were tested."""
    done = adapt(asked(6 * WIDTH), index_with(Slanted()))
    done.adaptation.write(tmp_path / FILE)
    assert np.array_equal(Adaptation.read(tmp_path / FILE).change, done.adaptation.change)


@pytest.mark.parametrize("helps", [True, False])
def test_a_new_map_must_win_over_the_one_that_is_there(tmp_path: Path, helps: bool) -> None:
    """A present map that does as well stays; one that does worse than the new one gives way."""
    encoder = Slanted()
    index_with(encoder, tmp_path / "it").close()
    good = adapt(asked(6 * WIDTH), index_with(encoder)).adaptation
    there = good if helps else Adaptation("slanted", np.roll(np.eye(WIDTH, dtype=np.float32) * 4, 5, 1))
    there.write(tmp_path / "it" / FILE)
    with ToolIndex.open(tmp_path / "it", encoder=encoder) as index:
        done = adapt(asked(6 * WIDTH), index)
    assert done.ahead is not None
    assert done.before is not None
    assert done.gain.mean > 20
    assert done.kept is not helps
    assert (done.ahead.mean > 20) is not helps


def test_an_index_without_vectors_is_refused() -> None:
    """There is nothing to adapt in an index of words."""
    with (
        ToolIndex.from_tools([ToolSpec(name="one")], encoder=None) as index,
        pytest.raises(InvalidInput, match="vectors"),
    ):
        adapt(asked(4 * LEAST), index)


def test_the_latest_requests_are_held_out() -> None:
    """The test is on later requests than those learnt from, without those asked before."""
    queries = [*asked(90), *(JudgedQuery(id=f"again{n}", query=asked(1)[0].query) for n in range(10))]
    early, late = parted(queries)
    assert [one.id for one in early] == [str(place) for place in range(70)]
    assert [one.id for one in late] == [str(place) for place in range(70, 90)]


def test_an_index_searches_with_the_map_beside_it(tmp_path: Path) -> None:
    """A map in the folder moves requests; without it the index is as before; tools' vectors stay."""
    encoder = Slanted()
    index_with(encoder, tmp_path / "it").close()
    done = adapt(asked(6 * WIDTH), ToolIndex.open(tmp_path / "it", read_only=True, encoder=encoder))
    done.adaptation.write(tmp_path / "it" / FILE)
    with ToolIndex.open(tmp_path / "it", read_only=True, encoder=encoder) as index:
        assert index.search("please nr003x", k=1).hits[0].id == "tool_3"
        assert not index.status.notes
    (tmp_path / "it" / FILE).unlink()
    with ToolIndex.open(tmp_path / "it", read_only=True, encoder=encoder) as index:
        assert index.search("please nr003x", k=1).hits[0].id == "tool_4"


def test_a_map_of_another_encoder_is_named_and_not_used(tmp_path: Path) -> None:
    """An index whose encoder has changed says that its map does not fit."""
    encoder = Slanted()
    index_with(encoder, tmp_path / "it").close()
    Adaptation("another", np.eye(WIDTH, dtype=np.float32)).write(tmp_path / "it" / FILE)
    with ToolIndex.open(tmp_path / "it", read_only=True, encoder=encoder) as index:
        assert "another encoder" in " ".join(index.status.notes)
        assert index.search("please nr003x", k=1).hits[0].id == "tool_4"


def test_a_calibration_is_of_one_adaptation(tmp_path: Path) -> None:
    """A calibration made without the map is named and not used with it; one made with it is used."""
    encoder, change = Slanted(), Adaptation("slanted", np.eye(WIDTH, dtype=np.float32))
    index_with(encoder, tmp_path / "it").close()
    Calibration(encoder="slanted", tools=WIDTH).write(tmp_path / "it" / "calibration.json")
    change.write(tmp_path / "it" / FILE)
    with ToolIndex.open(tmp_path / "it", encoder=encoder) as index:
        assert "another encoder or adaptation" in index.search("please nr003x").notes[-1]
    made = Calibration(encoder=request_id(CachedEncoder(AdaptedEncoder(encoder, change))), tools=WIDTH)
    made.write(tmp_path / "it" / "calibration.json")
    with ToolIndex.open(tmp_path / "it", encoder=encoder) as index:
        assert index.search("please nr003x").notes == ()


@pytest.mark.parametrize("body", [b"", b"nonsense", b"PK\x03\x04broken"])
def test_a_damaged_map_is_named(tmp_path: Path, body: bytes) -> None:
    """What is no map says which file to delete."""
    (tmp_path / FILE).write_bytes(body)
    with pytest.raises(InvalidSource, match="delete it"):
        Adaptation.read(tmp_path / FILE)


def test_any_damage_is_named(tmp_path: Path) -> None:
    """Whichever bytes of a map were changed: it is read, or refused by name; an index opens without it and says so."""
    index_with(Slanted(), tmp_path / "it").close()
    path, rng = tmp_path / "it" / FILE, np.random.default_rng(0)
    Adaptation("slanted", rng.random((WIDTH, WIDTH)).astype(np.float32)).write(path)
    whole, refused = path.read_bytes(), 0
    for place in range(len(whole)):
        for bits in (0xFF, 0x01):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ bits]) + whole[place + 1 :])
            try:
                Adaptation.read(path)
            except InvalidSource:
                refused += 1
    assert refused > len(whole)
    path.write_bytes(whole[:200] + b"\xff" * 50 + whole[250:])
    with ToolIndex.open(tmp_path / "it", encoder=Slanted()) as index:
        assert "is no adaptation" in " ".join(index.status.notes)
        assert index.search("please nr003x", k=1).hits[0].id == "tool_4"


def test_a_vector_keeps_its_length() -> None:
    """Moved vectors are as long as they were, and empty ones stay empty."""
    change = np.full((3, 3), 0.3, np.float32)
    moved = Adaptation("x", change).moved(np.array([[1, 0, 0], [0, 0, 0]], np.float32))
    assert np.allclose(np.linalg.norm(moved, axis=1), [1, 0])


def test_skills_of_the_encoder_behind_are_passed_on() -> None:
    """What an encoder says of itself is said by the adapted one too, and nothing else."""
    encoder = Slanted()
    encoder.languages = ("en",)  # type: ignore[attr-defined]
    adapted = AdaptedEncoder(encoder, Adaptation("slanted", np.zeros((WIDTH, WIDTH), np.float32)))
    assert adapted.languages == ("en",)
    assert adapted.plain is encoder
    with pytest.raises(AttributeError):
        _ = adapted.unheard_of
