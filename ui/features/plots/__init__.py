"""Curves over time: which channels there are, what is remembered of them, and the panels that plot them."""
