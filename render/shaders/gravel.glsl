// Stones of millimetres to centimetres in what is cast or strewn; farther away they average out.
#include "noise_map.glsl"

// About 0; `uv` in m. The noise has nothing longer in it, so its tiles do not show.
float gravel(vec2 uv) {
#if FULL_MATERIALS
    return (texture(noise_map, uv * 0.57).a - 0.5) * 0.7 + (texture(noise_map, uv.yx * 1.9 + 0.4).a - 0.5) * 0.6;
#else
    return 0.0;
#endif
}
