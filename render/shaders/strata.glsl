// Height of the top of the strata ramp in m (render/textures.py).
const float STRATA_TOP = 180.0;
