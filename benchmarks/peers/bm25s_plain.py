"""bm25s as its README shows it: its own tokeniser with English stop words."""

REQUIREMENTS = ["bm25s==0.3.16"]


def build(tools, embed, stemmer=None):
    import bm25s

    names = [name for name, _, _ in tools]
    index = bm25s.BM25()
    texts = [f"{name} {description}" for name, description, _ in tools]
    index.index(bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)

    def ask(query, k):
        tokens = bm25s.tokenize(query, stopwords="en", stemmer=stemmer, show_progress=False)
        rows, scores = index.retrieve(tokens, k=min(k, len(names)), show_progress=False)
        return [(names[row], score) for row, score in zip(rows[0], scores[0], strict=True) if score > 0]

    return ask
