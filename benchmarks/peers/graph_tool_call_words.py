"""graph-tool-call's default: BM25 and its graph, no vectors."""

REQUIREMENTS = ["graph-tool-call==0.47.0", "numpy==2.4.6"]


def build(tools, embed, vectors=False):
    from graph_tool_call import ToolGraph

    graph = ToolGraph()
    graph.add_tools([{"name": name, "description": text, "inputSchema": schema} for name, text, schema in tools])
    if vectors:
        graph.enable_embedding(embed)
    return lambda query, k: [(hit.tool.name, hit.score) for hit in graph.retrieve_with_scores(query, top_k=k)]
