"""What the user may choose and has chosen: catalogue, view settings, and the files that remember them."""
