<<<<<<< HEAD
"""Where tools meet numbers: corpora, filters, and what ranks and answers searches."""
=======
"""Retrievers and strategies: where tools meet numbers."""
>>>>>>> a8be453 (Decision models: questions, System One, OpenAI Decisions, local cross-encoder, wrappers)
