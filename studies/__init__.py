"""Studies: the papers' figures and ours, made from numbers that each run measures anew (`python -m studies NAME`)."""
