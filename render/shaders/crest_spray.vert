// Puffs of spray torn off a crest: they widen and thin out with their age.
#include "flying.glsl"

in vec4 puff;  // place in the world, m; age, 0..1 of its life

out float depth_m;
out float share;

uniform vec4 puff_m;  // radius at first and at last, m; share of the light that it holds back at first; seen whole from there, m
uniform float high_px;

void main() {
    gl_Position = clip_from_world * vec4(puff.xyz, 1.0);
    depth_m = max(gl_Position.w, 0.1);
    float size = point_px(mix(puff_m.x, puff_m.y, sqrt(puff.w)), high_px, depth_m);
    gl_PointSize = clamp(size, 1.5, 128.0);
    float near = smoothstep(1.0, puff_m.w, depth_m);  // each would be seen as one
    share = puff_m.z * near * (1.0 - puff.w) * smoothstep(0.0, 0.08, puff.w) * clamp(size * size / 2.25, 0.0, 1.0);
}
