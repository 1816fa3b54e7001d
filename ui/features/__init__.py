"""What the window can do, a module or a folder each: a panel, a view (values and requests), and actions.

`feature` says what a feature is; `ui.shell.features` lists them all. Folders import modules here, never the reverse.
"""
