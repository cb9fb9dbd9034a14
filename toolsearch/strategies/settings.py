"""The numbers of the hybrid ranking, in one place.

The length curve and the token table's share (which is part of the built-in encoder's vectors, see
`encoders/export.py`) were chosen with an encoder of the same recipe on sources that it was not trained on (see
`training/recipes/TRIED.md`); with the encoder before it, 3.77 and 4.3 were alike. The clauses' share was tried by
`python -m benchmarks fit` on the six development parts: metatool single and multi, sealtools dev, toollinkos, bfcl,
toolbench G1. The rules for corrections, the shares for other languages and `foreign_floor` were chosen on the
development half of the demo catalog's requests (`python -m benchmarks languages`), and so was `asked`: .3, .5 and .7
are alike there, and the six parts do not say what their tools change. `covered` was tried at 5 and 10 on the six
parts, and `sure` was set by hand so that a word that one tool has is not outvoted by chance. No test half was seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How two voters, words and similarity, become one score.

    Attributes:
        similarity: share of the similarity in the score, 0 to 1; None takes it from the request's length.
        length_offset: share = sigmoid(length_offset - length_slope * ln(1 + terms)): long requests trust words more.
        length_slope: see length_offset.
        pool: how many rows each voter proposes for each text; all of them get the exact score of every voter.
        clauses: most clauses of one request that are searched on their own; 0 for none.
        clause_terms: clauses of fewer terms are joined to a neighbour.
        clause_share: share of the best clause in the score, 0 to 1; the rest is the whole request's.
        covered: each clause has a tool that serves it among so many of the first; more than `clauses`.
        corrections: whether words that no tool has are corrected, and abbreviations written out.
        corrected_terms: requests of more distinct terms are not corrected; their other words say enough.
        corrected: what a corrected word weighs, compared with a word as it was written.
        foreign_share: share of the similarity for a request in a language that a tool is not written in.
        local_share: the same for tools in the other languages of the catalog, whose words count more.
        floor: least cosine of a hit that shares no word with the request; below it, likeness is chance.
        sure: where no tool has this cosine, similarity counts for less and brings up no tool by itself.
        asked: what a tool that only reads gains, and one that changes something loses, where the request is a question.
        foreign_floor: the same for a request in another language, which mostly shares no word with what it is after.
    """

    similarity: float | None = None
    length_offset: float = 4.3
    length_slope: float = 1.09
    pool: int = 50
    clauses: int = 4
    clause_terms: int = 3
    clause_share: float = 0.4
    covered: int = 5
    corrections: bool = True
    corrected_terms: int = 6
    corrected: float = 0.6
    foreign_share: float = 0.9
    local_share: float = 0.7
    floor: float = 0.2
    foreign_floor: float = 0.1
    sure: float = 0.31
    asked: float = 0.5

    def share(self, terms: int) -> float:
        """The share of the similarity for a request of so many distinct terms."""
        if self.similarity is not None:
            return self.similarity
        return 1 / (1 + math.exp(self.length_slope * math.log1p(terms) - self.length_offset))


HYBRID = Settings()
WORDS = Settings(similarity=0.0, asked=0.0)
VECTOR = Settings(similarity=1.0, clauses=0, asked=0.0, foreign_share=1.0, local_share=1.0)
