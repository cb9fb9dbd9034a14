"""LlamaIndex's vector retriever over tool nodes (what its ObjectIndex uses), with the shared encoder."""

REQUIREMENTS = ["llama-index-core==0.14.25"]


def build(tools, embed):
    from llama_index.core import VectorStoreIndex
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.schema import TextNode

    class Shared(BaseEmbedding):
        def _get_text_embedding(self, text):
            return embed([text])[0]

        def _get_text_embeddings(self, texts):
            return embed(texts)

        def _get_query_embedding(self, query):
            return embed([query])[0]

        async def _aget_query_embedding(self, query):
            return embed([query])[0]

    nodes = [TextNode(text=f"tool_name: {name}\ntool_description: {text}", id_=name) for name, text, _ in tools]
    index = VectorStoreIndex(nodes, embed_model=Shared(embed_batch_size=256))
    retriever = index.as_retriever(similarity_top_k=10)
    return lambda query, k: [(hit.node.node_id, hit.score or 0.0) for hit in retriever.retrieve(query)[:k]]
