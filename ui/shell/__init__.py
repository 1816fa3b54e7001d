"""One window's interface: `features` registers all features, `shell` loops over them once a frame."""
