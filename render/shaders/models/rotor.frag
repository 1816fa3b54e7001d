// The rotor as the eye sees it: dark streaks, a bright ring of blade tips, a trace of haze.
#include "frame.glsl"
#include "models/rotor.glsl"

in vec3 p_w;
in vec2 at;
in vec3 incoming, clearness, veil;
in float edge_on;

uniform vec3 extent;
uniform float tip_band;
uniform vec4 ghost_tint;  // rgb, 1 for a ghost
uniform float presence;

const vec3 BLADE = vec3(0.080, 0.083, 0.088);
const vec3 TIP = vec3(0.62, 0.38, 0.03);

out vec4 colour;

void main() {
    if (clipped(p_w)) discard;
    float cover = blade_cover(at.x, at.y);
    float px = fwidth(at.x) + 1e-4;
    float tip = smoothstep(-px, px, at.x - (extent.y - tip_band));
    cover = mix(cover, min(cover * 1.5 + 0.01, 0.95), tip);
    cover = 1.0 - pow(1.0 - cover, clamp(0.35 / max(edge_on, 0.05), 1.0, 1.7));
    cover *= smoothstep(0.0, 1.5 * px, extent.y - at.x);
    vec3 light = mix(mix(BLADE, TIP, tip) * incoming, ghost_tint.rgb * 0.9, ghost_tint.w);
    colour = vec4(light * clearness + veil, cover * mix(1.0, 0.6, ghost_tint.w) * presence);
}
