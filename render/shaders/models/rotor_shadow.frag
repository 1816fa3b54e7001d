// The disc's thin shadow: texels are kept in proportion to the cover, and the shadow filter blurs them.
#include "frame.glsl"
#include "models/rotor.glsl"

in vec2 at;

void main() {
    float cover = blade_cover(at.x, at.y);
#if SHADOW_TAPS == 1
    if (cover < 0.2) discard;  // unfiltered, a dither would show as dots: only the blades cast
#else
    float dither = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
    if (dither > 1.4 * (cover - HAZE)) discard;
#endif
}
