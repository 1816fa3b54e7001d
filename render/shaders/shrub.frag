// Leaves on cards, lit by pixel or, without full materials, by corner.
#include "leaves.glsl"

in vec2 leaf_uv;
in vec3 inscatter;
#if FULL_MATERIALS
in vec3 p_w;
in vec3 n_w;
in vec3 albedo;
in float rise;
in vec3 transmittance;
#else
in vec3 lit;
#endif
out vec4 colour;

#include "noise_map.glsl"
uniform sampler2D leaf_map;

void main() {
    vec4 leaf = texture(leaf_map, leaf_uv, -0.7);
#if FULL_MATERIALS
    float clump = texture(noise_map, p_w.xy * 0.55 + p_w.z * vec2(0.37, 0.41)).g;
    // Smaller leaves within the card's own, dark between them: close up, cards alone look like leaves of a giant.
    vec4 small = texture(leaf_map, fract(leaf_uv * 3.7 + clump), -1.0);
    float clumps = (0.45 + 1.1 * clump) * mix(0.42, 0.55 + 1.1 * small.r, smoothstep(0.2, 0.6, small.a));
    if (leaf.a < 0.38 || clipped(p_w)) discard;
    vec3 n = normalize(n_w);
    vec3 leaf_albedo = albedo * (0.6 + 0.8 * leaf.r) * clumps;
    vec3 radiance = leaf_albedo / PI * leaf_light(p_w, n, rise, sun_visibility(p_w, n));
    colour = vec4(radiance * transmittance + inscatter, distance(p_w, eye.xyz));
#else
    if (leaf.a < 0.38) discard;
    colour = vec4(lit * (0.6 + 0.8 * leaf.r) + inscatter, 1.0);
#endif
}
