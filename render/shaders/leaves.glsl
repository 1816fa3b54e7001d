// Light on leaves: wrapped, the sun glowing through from behind, darkness inside the bush.
#include "surface.glsl"
#include "shadow.glsl"

// Irradiance of a leaf at p, so high above the bush's foot by its size; `sun`: 0 in shadow, 1 in the sun.
vec3 leaf_light(vec3 p, vec3 n, float rise, float sun) {
    vec3 v = normalize(eye.xyz - p), l = sun_direction.xyz;
    float facing = dot(n, l);
    float wrap = saturate(facing * 0.6 + 0.4);
    float through = pow(saturate(dot(-v, l)), 4.0) * 0.5 + 0.25 * saturate(-facing);
    float crown = saturate(rise);
    vec3 direct = sun_irradiance.rgb * (wrap * wrap + through * vec3(0.9, 1.1, 0.4)) * mix(0.6, 1.0, crown);
    vec3 ambient = sky_irradiance(n) * mix(0.35, 1.0, crown) * 0.7 + land_light() * 0.09;
    return direct * sun + ambient;
}
