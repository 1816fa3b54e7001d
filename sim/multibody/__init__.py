"""Articulated bodies in linear time: trees of joints and the recursions that advance them (the multibody paper)."""
