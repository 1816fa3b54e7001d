"""Recordings in files: the panel, its values and requests, saving and opening, and what is kept while one flies."""
