"""Plans as things in the picture; `view` is the door."""
