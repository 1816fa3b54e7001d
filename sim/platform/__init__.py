"""Files, folders, caches, locks and errors: what the library needs of the machine and of its users, without mechanics.

`errors` for users' mistakes, `user_files` and `toml_table` for what users bring along, `validation` for arguments of
scripts, `cache` and `file_lock` for what is made once a machine, `replacing` for files that appear complete,
`processes` for work in worker processes, `progress` for what is being made ready.
"""
