"""What motions are written as, by the ending of the file; told apart from the writing, which takes time to load."""

SCENES = (".glb", ".usd", ".usda", ".usdc")
TABLES = (".csv", ".npz")
ENDINGS = (*SCENES, *TABLES)
