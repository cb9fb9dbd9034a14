"""graph-tool-call with the shared encoder."""

REQUIREMENTS = ["graph-tool-call==0.47.0", "numpy==2.4.6"]


def build(tools, embed):
    from graph_tool_call_words import build as words

    return words(tools, embed, vectors=True)
