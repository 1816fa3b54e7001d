// A drop of spray: light from all sides goes through it.
#include "flying.glsl"

in float depth_m;
in float share;
out vec4 colour;

void main() {
    vec2 at = gl_PointCoord * 2.0 - 1.0;
    float r2 = dot(at, at);
    if (r2 > 1.0) discard;
    colour = vec4(lit_drops(gl_FragCoord, depth_m, 0.6, 1.6), 0.75 * share * (1.0 - 0.8 * r2));
}
