"""What a user would pick instead, each in an environment of its own, on the same catalog and requests.

A peer is a file here: `REQUIREMENTS` pins its packages, `build(tools, embed)` indexes the tools and
returns `ask(query, k)`, which gives (name, score) pairs best first. `tools` are (name, description,
schema) with distinct names. `embed` turns a list of texts into a list of vectors of our built-in encoder.
"""

PEERS = (
    "rank_bm25_plain",
    "bm25s_plain",
    "bm25s_stemmed",
    "fastmcp_bm25",
    "pydantic_ai_keywords",
    "ratel_bm25",
    "ratel_hybrid",
    "semantic_tool_router_hybrid",
    "langgraph_store",
    "llamaindex_retriever",
    "graph_tool_call_words",
    "graph_tool_call_vectors",
)
