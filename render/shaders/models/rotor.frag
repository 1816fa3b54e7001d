// The rotor as the eye sees it: dark streaks, a bright ring of blade tips, a trace of haze.
#include "surface.glsl"
#include "shadow.glsl"
#include "models/rotor.glsl"

in vec3 p_w, n_w;
in vec2 at;

uniform vec3 extent;
uniform float tip_band;
uniform vec4 ghost_tint;  // rgb, 1 for a ghost

const vec3 BLADE = vec3(0.075, 0.078, 0.082);
const vec3 TIP = vec3(0.78, 0.50, 0.03);

out vec4 colour;

void main() {
    if (clipped(p_w)) discard;
    vec3 v = normalize(eye.xyz - p_w);
    vec3 n = normalize(n_w);
    if (dot(n, v) < 0.0) n = -n;
    float cover = blade_cover(at.x, at.y);
    float px = fwidth(at.x) + 1e-4;
    float tip = smoothstep(-px, px, at.x - (extent.y - tip_band));
    cover = mix(cover, min(cover * 1.5 + 0.01, 0.95), tip);
    float edge_on = abs(dot(n, v));
    cover = 1.0 - pow(1.0 - cover, clamp(0.35 / max(edge_on, 0.05), 1.0, 2.5));
    cover *= smoothstep(0.0, 1.5 * px, extent.y - at.x);
    vec3 albedo = mix(BLADE, TIP, tip);
    float nl = dot(n, sun_direction.xyz);
    float lit = sun_visibility(p_w, vec3(0.0, 0.0, 1.0));
    vec3 light = albedo / PI * (sun_irradiance.rgb * (max(nl, 0.0) + 0.15 * max(-nl, 0.0)) * lit + sky_irradiance(n));
    light += environment(reflect(-v, n), 0.5) * 0.04;
    light = mix(light, ghost_tint.rgb * 0.9, ghost_tint.w);
    colour = vec4(through_haze(light, p_w), cover * mix(1.0, 0.6, ghost_tint.w));
}
