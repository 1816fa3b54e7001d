// Tiling noise of several spectra (render/land/textures.py).
uniform sampler2D noise_map;
