"""Opening: the gallery, files, the question of trust, and scenes that are made ready beside the frames (`actions`)."""
