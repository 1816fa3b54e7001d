"""What a user has set up, as values that are gone back to: undo and redo."""

from ui.edits.edits import Edits
from ui.edits.setup import Setup, setup_of

__all__ = ["Edits", "Setup", "setup_of"]
