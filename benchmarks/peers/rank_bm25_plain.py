"""rank-bm25 as its README shows it: lower case, split on blanks."""

REQUIREMENTS = ["rank-bm25==0.2.2"]


def build(tools, embed):
    from rank_bm25 import BM25Okapi

    names = [name for name, _, _ in tools]
    index = BM25Okapi([f"{name} {description}".lower().split() or [""] for name, description, _ in tools])

    def ask(query, k):
        scores = index.get_scores(query.lower().split())
        return [(names[row], scores[row]) for row in scores.argsort()[::-1][:k] if scores[row] > 0]

    return ask
