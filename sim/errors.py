"""The public name of the exception that users' mistakes raise."""

from sim.platform.errors import InputError

__all__ = ["InputError"]
