"""Machine code: of LLVM's text, kept on disk, and of functions that are written in a subset of Python.

`function.py` has the decorators, `translator.py` turns functions into text, `objects.py` text into machine code.
"""
