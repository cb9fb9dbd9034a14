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
            *(f"{value:.3f}" for value in (one.auc, one.ece, one.auc_alone, one.ece_alone)),
            *(f"{100 * value:.0f} %" for value in (one.offers_ranking, one.offers_judge, one.offers_mixed)),
        ]
        for name, one in figures.items()
    ]
    head = ["part", "requests", "hybrid", "judge", "mixed", "AUC", "ECE", "AUC alone", "ECE alone"]
    head += ["offers, hybrid", "offers, judge", "offers, mixed"]
    pairs = recipe.steps * recipe.requests * recipe.candidates
    return f"""# A tool judge

Made by `toolsearch train judge`, seed {recipe.seed}: {recipe.steps} steps, at most {pairs} pairs, in {seconds / 60:.0f}
minutes of CPU. It reads with the first {recipe.lower} layers of sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0),
unchanged; what compares request and tool is trained.

Trained on {sum(known.values())} requests: {", ".join(f"{name} {count}" for name, count in known.items())}.

NDCG@10 of the hybrid's first 20 in its own order, in the judge's and in that of both together; AUC and expected
calibration error of "this hit is right" by both together and by the judge alone; false offers when the right tools are
taken off the list, at a threshold that refuses a tenth of the whole lists. Parts whose catalog was trained on are
marked.

{table(head, rows)}

It reads English. It has not been tested on requests of several turns.
"""
