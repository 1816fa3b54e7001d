"""Keys, controllers and mouse: what they are assigned to, and what `desk` reads of them once a frame."""
