"""Fakes and contract suites, for this project and for who builds on it."""
