"""Binary glTF: vehicles with their models, moving as they were recorded."""
