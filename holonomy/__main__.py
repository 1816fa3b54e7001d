"""The command `holonomy`, as `python app.py` in a checkout; `holonomy study` is `python -m studies` there, and
`holonomy ledger` is `python -m studies.ledger`."""

import gc
import os
import sys

from holonomy import FOLDER


def main() -> int:
    """Exit status, as `app.main` has it."""
    # Nothing in the folder where it is started may stand in for the app's own, nor for what its workers import.
    if sys.path[:1] == [os.getcwd()]:
        del sys.path[0]  # `python -m` looks there first
    sys.path.insert(0, str(FOLDER))
    gc.disable()  # as app.py does
    if sys.argv[1:2] == ["study"]:
        from studies.__main__ import main as study

        study(sys.argv[2:], prog_name="holonomy study")
    if sys.argv[1:2] == ["ledger"]:
        from studies.ledger.__main__ import main as ledger

        ledger(sys.argv[2:], prog_name="holonomy ledger")
    import app

    return app.main()


if __name__ == "__main__":
    sys.exit(main())
