"""An index: a catalog in memory or in a folder, kept searchable while it changes."""
