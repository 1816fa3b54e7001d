"""What a user is told where the display cannot show the app; apart from what loads OpenGL, which lists do without."""


class DisplayError(RuntimeError):
    """The graphics system cannot do what is asked; the message is one clear line."""
