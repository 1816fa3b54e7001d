"""The ways of looking at a vehicle, and what they share: springs, framing, staying out of the rock."""
