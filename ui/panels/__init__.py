"""One panel a file: a function of the snapshot and the panel context that returns requests."""
