// A puff of spray, soft at its edge.
#include "flying.glsl"

in float depth_m;
in float share;
out vec4 colour;

void main() {
    vec2 at = gl_PointCoord * 2.0 - 1.0;
    float within = 1.0 - dot(at, at);
    if (within <= 0.0) discard;
    colour = vec4(lit_drops(gl_FragCoord, depth_m, 0.5, 1.5), share * within * within);
}
