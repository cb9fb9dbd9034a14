"""Numbers in, ranked rows out: word matching and vector similarity. Nothing here has heard of tools."""
