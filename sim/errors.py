"""The one exception that users' mistakes raise."""


class InputError(ValueError):
    """Bad user input. The message is one clear line: what was given, what is allowed."""
