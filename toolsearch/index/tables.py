"""The tables of the truth."""

from __future__ import annotations

from typing import Final

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS bodies (
    number INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, text TEXT NOT NULL, body TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS texts ON bodies (text);
CREATE TABLE IF NOT EXISTS entries (
    row INTEGER PRIMARY KEY AUTOINCREMENT, tool TEXT NOT NULL, origin TEXT NOT NULL, body INTEGER NOT NULL,
    place INTEGER NOT NULL, born INTEGER NOT NULL, died INTEGER);
CREATE UNIQUE INDEX IF NOT EXISTS alive ON entries (tool) WHERE died IS NULL;
CREATE INDEX IF NOT EXISTS births ON entries (born);
CREATE INDEX IF NOT EXISTS deaths ON entries (died) WHERE died IS NOT NULL;
CREATE INDEX IF NOT EXISTS used ON entries (body);
CREATE TABLE IF NOT EXISTS changes (
    generation INTEGER PRIMARY KEY, added INTEGER NOT NULL, changed INTEGER NOT NULL, removed INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS vectors (
    encoder TEXT NOT NULL, text TEXT NOT NULL, vector BLOB NOT NULL, UNIQUE (encoder, text));
CREATE TABLE IF NOT EXISTS lines (
    line TEXT PRIMARY KEY, tool TEXT NOT NULL, origin TEXT NOT NULL, body TEXT NOT NULL) WITHOUT ROWID;
INSERT OR IGNORE INTO meta VALUES ('generation', '0'), ('places', '0'), ('arranged', '0');
"""
