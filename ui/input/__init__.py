"""Keys and sticks: tables, ramps and axis shaping are pure; devices are read in one place."""
