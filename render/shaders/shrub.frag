// Leaves on cards: wrapped light, the sun glowing through from behind, darkness inside the bush.
#include "surface.glsl"
#include "shadow.glsl"

in vec2 leaf_uv;
in vec3 p_w;
in vec3 n_w;
in vec3 albedo;
in float rise;
in vec3 transmittance;
in vec3 inscatter;
out vec4 colour;

uniform sampler2D leaf_map, noise_map;

void main() {
    vec4 leaf = texture(leaf_map, leaf_uv, -0.7);
#if FULL_MATERIALS
    float clump = texture(noise_map, p_w.xy * 0.55 + p_w.z * vec2(0.37, 0.41)).g;
    // Smaller leaves within the card's own, dark between them: close up, cards alone look like leaves of a giant.
    vec4 small = texture(leaf_map, fract(leaf_uv * 3.7 + clump), -1.0);
    float clumps = (0.45 + 1.1 * clump) * mix(0.42, 0.55 + 1.1 * small.r, smoothstep(0.2, 0.6, small.a));
#endif
    if (leaf.a < 0.38 || clipped(p_w)) discard;
    vec3 n = normalize(n_w);
    vec3 v = normalize(eye.xyz - p_w);
    vec3 l = sun_direction.xyz;
    float facing = dot(n, l);
    float wrap = saturate(facing * 0.6 + 0.4);
    float through = pow(saturate(dot(-v, l)), 4.0) * 0.5 + 0.25 * saturate(-facing);
    float crown = saturate(rise);
    vec3 direct = sun_irradiance.rgb * (wrap * wrap + through * vec3(0.9, 1.1, 0.4)) * mix(0.6, 1.0, crown);
    vec3 ambient = sky_irradiance(n) * mix(0.35, 1.0, crown) * 0.7 + sun_irradiance.rgb * ROCK_BOUNCE * 0.09;
    vec3 leaf_albedo = albedo * (0.6 + 0.8 * leaf.r);
#if FULL_MATERIALS
    leaf_albedo *= clumps;
#endif
    vec3 radiance = leaf_albedo / PI * (direct * sun_visibility(p_w, n) + ambient);
    colour = vec4(radiance * transmittance + inscatter, distance(p_w, eye.xyz));
}
