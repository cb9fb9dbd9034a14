"""Speed, memory and change at sizes that no public set has: made-up catalogs of real definitions."""
