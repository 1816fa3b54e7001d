"""Scripts that make the models of `assets/models`: `python -m assets.scripts.build [NAME ...]`."""
