"""Data sets x methods x splits x measures, run with resume and stored in SQLite."""
