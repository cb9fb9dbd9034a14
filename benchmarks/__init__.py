"""Measures toolsearch from outside, through its public API only."""
