"""Sound made from what the vehicles tell: levels and pitches from snapshots, samples from those, an output."""
