"""The agent: a plain loop that searches for its tools and forgets them with its memory."""
