"""bm25s with a stemmer, and identifiers and parameter names split into words: a careful user's set-up."""

import re

REQUIREMENTS = ["bm25s==0.3.16", "PyStemmer==3.1.0"]


def words(name):
    return re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name).replace("_", " ").replace("-", " ").replace(".", " ")


def build(tools, embed):
    import Stemmer
    from bm25s_plain import build as plain

    split = [
        (name, f"{words(name)} {description} {words(' '.join(schema.get('properties', {})))}", schema)
        for name, description, schema in tools
    ]
    return plain(split, embed, Stemmer.Stemmer("english"))
