// A comparison lane: the vehicle as tinted light, brightest where its surface turns away.
#include "surface.glsl"
#include "models/surface_look.glsl"

#ifdef OF_MANY
flat in float presence;
#else
uniform float presence;
#endif

out vec4 colour;

void main() {
    if (clipped(p_w)) discard;
    vec3 v = normalize(eye.xyz - p_w);
    vec3 n = normalize(n_w);
    float rim = pow(1.0 - abs(dot(n, v)), 2.5);
    float sunny = 0.5 + 0.5 * dot(n, sun_direction.xyz);
    vec3 light = tint.rgb * (sun_irradiance.rgb * 0.10 * sunny + sky_irradiance(n) * 0.16 + rim * 1.6);
    colour = vec4(light * clearness + veil, (0.34 + 0.5 * rim) * presence);
}
