// Drops drawn out by the shutter, in a box about the eye; farther off rain is haze.
#include "rain.glsl"

out float share;
out float aside;

const vec3 BOX = vec3(18.0, 18.0, 10.0);
const float SHUTTER_S = 0.034, WIDTH_M = 0.0045;

void main() {
    vec3 seed = hashed(float(gl_VertexID / 6));
    vec2 corner = CORNERS[gl_VertexID % 6];
    // Over one box's height and less than a day of falling: floats tell drops apart no finer than that.
    vec3 p = near_eye(seed, BOX, FALL * eye.w) - FALL * SHUTTER_S * corner.y;
    vec4 at = clip_from_world * vec4(p, 1.0), before = clip_from_world * vec4(p - FALL * SHUTTER_S, 1.0);
    vec2 along = (before.xy / before.w - at.xy / at.w) * viewport.xy;
    vec2 across = normalize(vec2(-along.y, along.x) + 1e-6);
    float high = length(vec3(clip_from_world[0][1], clip_from_world[1][1], clip_from_world[2][1]));
    float width_px = 0.5 * WIDTH_M * high * viewport.y / max(at.w, 0.1);
    float drawn_px = max(width_px, 1.1);
    at.xy += corner.x * across * drawn_px * viewport.zw * at.w;
    gl_Position = at;
    aside = corner.x;
    float far = distance(p, eye.xyz);
    share = 0.7 * min(width_px / drawn_px, 1.0) * smoothstep(1.5, 4.0, far) * (1.0 - smoothstep(6.0, 9.0, far));
    share *= step(0.05, min(at.w, before.w)) * smoothstep(0.0, 0.2, orbit.w);
}
