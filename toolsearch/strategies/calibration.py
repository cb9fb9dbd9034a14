"""What judged requests taught about one catalog: curves, bands and thresholds of its strategies, as one JSON file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, cast

from toolsearch.chances import chance_of, logit_of
from toolsearch.errors import InvalidSource
from toolsearch.strategies.confidence import BANDS, FIT, Bands, Fit
from toolsearch.strategies.likeness import Likeness
from toolsearch.tool import Json

FILE: Final = "calibration.json"
FORMAT: Final = 1
MAX_BYTES: Final = 8_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """One strategy, fitted. Below `threshold` nothing fits.

    `fit` and `likeness` are for strategies that rank by words and vectors. `scale` and `bias` put other estimates
    right: sigmoid(scale * logit(estimate) + bias). For judges the logit of the estimate is `answer` times that of the
    judge's answer, and `place` times the place in the ranking, in standard deviations above the mean of the tools asked
    about. `report` holds what was measured, for people.
    """

    threshold: float = BANDS[0][0]
    fit: Fit = FIT
    likeness: Likeness | None = None
    scale: float = 1.0
    bias: float = 0.0
    answer: float = 1.0
    place: float = 0.0
    judge: str = ""
    report: Json = field(default_factory=dict[str, Any])

    @property
    def bands(self) -> Bands:
        """Bands of which the lowest ends at the threshold."""
        return ((self.threshold, "none"), *((max(bound, self.threshold), name) for bound, name in BANDS[1:]))

    def put_right(self, estimate: float) -> float:
        """The calibrated chance for an estimate, 0 to 1."""
        return chance_of(self.scale * logit_of(estimate) + self.bias)

    def mixed(self, estimate: float, above: float) -> float:
        """The calibrated chance for a judge's answer about a tool that ranks so many deviations above the others."""
        return self.put_right(chance_of(self.answer * logit_of(estimate) + self.place * above))


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Fitted strategies by name, and what they were fitted with: the encoder (`request_id`) and the tools' number."""

    strategies: Mapping[str, Fitted] = field(default_factory=dict[str, Fitted])
    encoder: str = ""
    tools: int = 0

    def write(self, path: Path) -> None:
        """Write the file, as one step for whoever reads it."""
        rows = {name: _fitted_json(one) for name, one in sorted(self.strategies.items())}
        body = {"v": FORMAT, "encoder": self.encoder, "tools": self.tools, "strategies": rows}
        made = path.with_suffix(".new")
        made.write_text(json.dumps(body, indent=1) + "\n", "utf-8")
        made.replace(path)

    @classmethod
    def read(cls, path: Path) -> Calibration:
        """What `write` wrote.

        Raises:
            InvalidSource: the file cannot be read, or is something else.
        """
        try:
            if path.stat().st_size > MAX_BYTES:
                raise InvalidSource(f"{path} has more than {MAX_BYTES} bytes")
            body: Any = json.loads(path.read_text("utf-8"))
            if body["v"] != FORMAT:
                raise InvalidSource(f"{path} has format {body['v']!r:.40}; this version reads {FORMAT}")
            rows = {str(name): _fitted(one) for name, one in body["strategies"].items()}
            return cls(strategies=rows, encoder=str(body["encoder"]), tools=int(body["tools"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, InvalidSource):
                raise
            raise InvalidSource(
                f"{path} is no calibration: {error!s:.120}; make it with: toolsearch calibrate"
            ) from None


def _fitted_json(one: Fitted) -> Json:
    likeness = one.likeness.to_json() if one.likeness else None
    named = {key: getattr(one, key) for key in ("threshold", "scale", "bias", "answer", "place", "judge", "report")}
    return {**named, "fit": asdict(one.fit), "likeness": likeness}


def _fitted(body: Mapping[str, Any]) -> Fitted:
    known = {one.name for one in fields(Fit)}
    fit = Fit(**{name: _number(value) for name, value in body["fit"].items() if name in known})
    likeness = Likeness.from_json(body["likeness"]) if body.get("likeness") else None
    numbers = {name: _number(body[name]) for name in ("threshold", "scale", "bias")}
    numbers |= {"answer": _number(body.get("answer", 1.0)), "place": _number(body.get("place", 0.0))}
    report = cast("Json", dict(body.get("report", {})))
    return Fitted(**numbers, fit=fit, likeness=likeness, judge=str(body.get("judge", "")), report=report)


def _number(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value!r:.40} is not a finite number")
    return number
