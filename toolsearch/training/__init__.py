"""Learns from judged requests: what makes search fit a team's own catalog, and our own models."""
