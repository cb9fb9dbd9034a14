"""For those who test what they build on toolsearch: stand-ins that need no network and no model."""
