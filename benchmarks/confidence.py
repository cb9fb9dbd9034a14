"""Fits the built-in numbers of confidence: `toolsearch/strategies/confidence.py`, those that begin with `world_`.

Seen are only the development halves of the demo's slices (see `slices`), English requests. Each slice is also tested
with numbers that were fitted on the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.slices import Pair, asked_of, at_one, slices
from toolsearch import ToolIndex, open_encoder
from toolsearch.encoders.cached import CachedEncoder
from toolsearch.evaluation.calibrating import WORLD, Sample, fitted_anew, samples
from toolsearch.evaluation.tables import table
from toolsearch.strategies.confidence import Fit
from toolsearch.strategies.retrievers import open_retriever


def confidence_table(encoder_name: str = "builtin") -> str:
    """What each slice is told by the others, and the numbers that all slices together give."""
    encoder = CachedEncoder(open_encoder(encoder_name), 10_000)
    parts: list[list[Sample]] = []
    for tools in slices():
        asked = [query for query in asked_of(tools, "development") if query.lang == "en"]
        view = ToolIndex.from_tools(tools, encoder=encoder).view()
        parts.append(samples(open_retriever("hybrid").ranker, view, asked))
    return fitted_table(parts)


def fitted_table(parts: Sequence[Sequence[Sample]]) -> str:
    """What each part is told by a fit on the others, what all are told by one on all, and the numbers of that one."""
    every = [one for part in parts for one in part]
    unseen: list[Pair] = []
    for held in parts:
        unseen += _said(fitted_anew([one for part in parts if part is not held for one in part]), held)
    chosen = fitted_anew(every)
    rows = [["slices left out", *at_one(unseen)], ["fitted on all", *at_one(_said(chosen, every))]]
    numbers = "\n".join(f"    {name}: float = {getattr(chosen, name):.4g}" for name in WORLD if getattr(chosen, name))
    return f"{table(['development half', 'refused %', 'false offers %', 'AUC'], rows)}\n\n{numbers}"


def _said(fit: Fit, rows: Sequence[Sample]) -> list[Pair]:
    plain = replace(fit, answered=0.0, unanswered=0.0)
    return [Pair(plain.of(one.evidence) if one.evidence else one.estimate, one.answerable, one.text) for one in rows]
