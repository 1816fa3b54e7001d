// Painted metal: lit by sun and sky, under water by what its ripples gather, with a little gloss.
#include "surface.glsl"
#include "shadow.glsl"
#include "caustics.glsl"

in vec3 p_w;
in vec3 n_w;
in vec3 paint;
in vec3 transmittance;
in vec3 inscatter;
out vec4 colour;

uniform float surface_m;  // mean height of the water in the tank
uniform vec3 box_low, box_high;

void main() {
    vec3 v = normalize(eye.xyz - p_w), n = normalize(n_w);
    float sun = saturate(dot(n, sun_direction.xyz));
    if (sun > 0.0) sun *= sun_visibility(p_w, n);
    bool within = all(greaterThan(p_w.xy, box_low.xy - 0.06)) && all(lessThan(p_w.xy, box_high.xy + 0.06));
    if (p_w.z < surface_m && within) sun *= caustics(p_w, surface_m, CAUSTIC_SHARP_M);
    vec3 ambient = sky_irradiance(n) * 0.8 + land_light() * 0.1;
    vec3 c = paint / PI * (sun_irradiance.rgb * sun + ambient);
    c += 0.04 * environment(reflect(-v, n), 0.4);
    colour = vec4(c * transmittance + inscatter, 1.0);
}
