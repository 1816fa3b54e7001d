"""Results on disk: videos, pictures and tables, written completely or not at all."""
