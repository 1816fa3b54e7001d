// Fallen blocks: broken faces, damp at the water's edge.
#include "surface.glsl"
#include "shadow.glsl"

in vec3 p_w;
in vec3 n_w;
in vec3 albedo;
in float rise;
in vec3 transmittance;
in vec3 inscatter;
out vec4 colour;

uniform sampler2D noise_map;

void main() {
    if (clipped(p_w)) discard;
    vec4 grain = texture(noise_map, p_w.yx * 0.33 + p_w.z * 0.21);
    vec3 n = normalize(normalize(n_w) + (grain.rga - 0.5) * 0.8);
    vec3 block = albedo * (0.6 + 0.8 * grain.r) * mix(0.4, 1.0, smoothstep(0.0, 0.6, p_w.z - water.x));
    vec3 ambient = sky_irradiance(n) * mix(0.35, 0.9, saturate(rise * 0.5 + 0.5)) + sun_irradiance.rgb * ROCK_BOUNCE * 0.06;
    float sun = saturate(dot(n, sun_direction.xyz));
    if (sun > 0.0) sun *= sun_visibility(p_w, n);
    vec3 radiance = block / PI * (sun_irradiance.rgb * sun + ambient);
    colour = vec4(radiance * transmittance + inscatter, distance(p_w, eye.xyz));
}
