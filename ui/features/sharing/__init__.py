"""Exports and videos for others: the panel's part, its values and requests, and the work beside the frames."""
