// Where the sea is that is seen in a pixel: x, y at which the point rests, its distance from the eye, and how far it is
// inside of a hull (negative: outside) [m]. Beside it what is the same for many pixels.
#include "frame.glsl"
#include "sea.glsl"
#ifdef HULLS
#include "sea_hulls.glsl"
#endif

in vec3 p_w;
in vec2 rest;
in vec4 veil;
layout(location = 0) out vec4 place;
layout(location = 1) out vec4 veil_here;

void main() {
    if (beyond_bounds(p_w.xy)) discard;
#ifdef HULLS
    float inside = within_hull();
    if (inside > 0.0) discard;
#else
    const float inside = -1e3;
#endif
    place = vec4(rest, distance(p_w, eye.xyz), inside);
    veil_here = veil;
}
