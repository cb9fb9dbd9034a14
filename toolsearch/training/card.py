"""The card that goes with a trained model: what it is made of, from what, and what it is worth."""

from __future__ import annotations

from collections.abc import Mapping

from toolsearch.evaluation.tables import table
from toolsearch.training.measuring import Worth
from toolsearch.training.recipe import Recipe


def card(recipe: Recipe, known: Mapping[str, int], figures: Mapping[str, Worth], seconds: float) -> str:
    """Markdown. `known` counts the requests of each source that were trained on."""
    rows = [
        [
            name,
            str(one.requests),
            *(f"{value:.1f}" for value in (one.ranking, one.judge, one.mixed)),
            f"{one.auc:.3f}",
            f"{one.ece:.3f}",
            f"{100 * one.offers_ranking:.0f} %",
            f"{100 * one.offers_judge:.0f} %",
        ]
        for name, one in figures.items()
    ]
    head = ["part", "requests", "hybrid", "judge", "mixed", "AUC", "ECE", "offers, hybrid", "offers, judge"]
    pairs = recipe.steps * recipe.requests * recipe.candidates
    return f"""# A tool judge

Made by `toolsearch train judge`, seed {recipe.seed}: {recipe.steps} steps, at most {pairs} pairs, in {seconds / 60:.0f}
minutes of CPU. Base: sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), its first {recipe.lower} layers unchanged.

Trained on {sum(known.values())} requests: {", ".join(f"{name} {count}" for name, count in known.items())}.

NDCG@10 of the hybrid's first 20 in its own order, in the judge's and in a mixed one; AUC and expected calibration error
of "this hit is right"; false offers when the right tools are taken off the list, at a threshold that refuses a tenth of
the whole lists. Parts whose catalog was trained on are marked.

{table(head, rows)}

It reads English. It has not been tested on requests of several turns.
"""
