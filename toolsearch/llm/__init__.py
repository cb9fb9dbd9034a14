"""Chat models: one adapter for each provider, behind one seam."""
