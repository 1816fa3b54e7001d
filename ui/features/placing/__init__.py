"""Bodies of a scene, edited in the view: a page and the tool that moves them, and what is saved."""
