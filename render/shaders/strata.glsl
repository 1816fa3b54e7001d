// Height of the top of the strata ramp in m (render/land/textures.py).
const float STRATA_TOP = 180.0;
