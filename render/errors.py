"""What a user is told where the display cannot show the app."""


class DisplayError(RuntimeError):
    """The graphics system cannot do what is asked; the message is one clear line."""
