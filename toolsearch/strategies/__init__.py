"""Where tools meet numbers: corpora, filters, and what ranks and answers searches."""
