"""The command `holonomy`, as `python app.py` in a checkout."""

import gc
import sys

from holonomy import FOLDER


def main() -> int:
    """Exit status, as `app.main` has it."""
    sys.path.insert(
        0, str(FOLDER)
    )  # nothing in the folder where it is started may stand in for the app's own
    gc.disable()  # as app.py does
    import app

    return app.main()


if __name__ == "__main__":
    sys.exit(main())
