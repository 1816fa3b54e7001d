// Rock lit by sun, sky and the walls across.
#include "rock.glsl"
#include "shadow.glsl"
#include "caustics.glsl"

in vec3 p_w;
in vec3 n_w;
in vec3 ground;
out vec4 colour;

// Sand and pebbles of level ground near the eye, which farther away average out; about 1.
float underfoot(float steep) {
    float fine = texture(noise_map, p_w.xy * 0.53).a - 0.5, finest = texture(noise_map, p_w.yx * 1.7 + 0.4).a - 0.5;
    float stones = 0.45 * fine + 0.40 * finest - 0.30 * smoothstep(0.26, 0.38, fine);
    return 1.0 + stones * (1.0 - steep);
}

void main() {
    if (clipped(p_w)) discard;
    vec3 n = normalize(n_w);
    float distance_m = distance(p_w, eye.xyz);
    Traits traits = Traits(ground.x, ground.y, ground.z);
    Grain grain = rock_grain(p_w, n, traits);
    float relief = rock_relief(grain);

    float close = 1.0 - smoothstep(20.0, 140.0, distance_m);
    vec4 near_noise = triplanar(p_w, triplanar_weight(n), 1.1);
    float smooth_ground = grain.loose * (1.0 - grain.steep);
    float bump = relief + close * ((near_noise.r - 0.5) * 0.10 + (near_noise.b - 0.5) * 0.05) * (1.0 - 0.5 * smooth_ground);
    // Gravel that gives far slopes their grain would be a crust of spikes underfoot.
    bump -= (1.0 - smoothstep(25.0, 140.0, distance_m)) * smooth_ground * (grain.fine.a - 0.5) * 0.35;
    vec3 shading_n = bumped(p_w, n, bump * mix(0.4, 0.75, smoothstep(4.0, 45.0, distance_m)), smoothstep(0.08, 0.40, dot(n, eye.xyz - p_w) / max(distance_m, 1e-3)));

    vec3 albedo = rock_albedo(p_w, n, grain) * mix(1.0, 0.82 + 0.36 * near_noise.g, close);
    albedo *= underfoot(grain.steep);
    float lift = 0.35 + 0.003 * distance_m;  // coarse levels stray from the surface the shadow map saw
    float sun = saturate(dot(shading_n, sun_direction.xyz));
    // Under water scattered light fills the shadows.
    float filled = 0.75 * smoothstep(0.2, 2.5, water.x - p_w.z);
    if (sun > 0.0) sun *= mix(min(canyon_sun(p_w + n * lift), vehicle_sun(p_w + n * 0.03)), 1.0, filled);
    if (p_w.z < water.x) sun *= caustics(p_w, water.x, CAUSTIC_SHARP_M);
    vec3 radiance = albedo / PI * (sun_irradiance.rgb * sun + rock_ambient(shading_n, traits, relief));
    colour = vec4(through_haze(radiance, p_w), distance_m);
}
