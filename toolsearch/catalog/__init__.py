"""Many formats in, one catalog out, and back. One file a format; vendors' shapes stop here."""
