"""Learns from judged requests: what makes search fit a team's own catalog, and models of our own from recipes.

Only the modules of models need torch, by the extra `train`, and only when they run.
"""
