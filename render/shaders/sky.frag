// The sky behind everything: scattering table, sun disc, high cirrus; or, where it is drawn once for many pictures, what is above
// the horizon laid out flat (FLAT), and looked up there (LOOKED_UP).
#include "sky.glsl"

in vec2 uv;
out vec4 colour;

#include "clouds.glsl"

const float SKY_DISTANCE = 60000.0;
const float CLOUD_COVER = 0.8;

vec3 with_cirrus(vec3 sky, vec3 d) {
    vec2 q = d.yx / (d.z + 0.08);
    float warp = textureLod(noise_map, q * 0.031, 0.0).r - 0.5;
    vec2 streak = vec2(q.x * 0.06 + q.y * 0.02, q.y * 0.11 - q.x * 0.035) + warp * 0.10 + eye.w * vec2(2e-5, 4e-5);
    // One level for all: q would stretch without bound below the horizon, and with it what the hardware asks for.
    float level = log2(max(512.0 * 0.11 / (viewport.y * (d.z + 0.08) * (d.z + 0.08)), 1e-3));
    float wisps = textureLod(noise_map, streak, max(level, 0.0)).r * 0.55
        + textureLod(noise_map, streak * 3.1 + 0.3, max(level + 1.6, 0.0)).r * 0.3
        + textureLod(noise_map, streak * 8.3, max(level + 3.1, 0.0)).g * 0.15;
    float cover = smoothstep(0.50, 0.80, wisps) * CLOUD_COVER * smoothstep(0.01, 0.16, d.z);
    float forward = 0.35 + 1.6 * pow(saturate(dot(d, sun_direction.xyz) * 0.5 + 0.5), 8.0);
    // Brighter than the sky behind, or cirrus turns into smoke.
    vec3 cloud = sun_irradiance.rgb * (0.075 + 0.10 * forward) + sky_harmonics[0].rgb * 0.32;
    return mix(sky, cloud, cover * 0.85);
}

// Heaps with flat grounds, in one layer; what lies towards the sun darkens them.
vec3 with_clouds(vec3 sky, vec3 d) {
    float cover = sun_direction.w;
    vec2 q = d.xy / (d.z + 0.03), drift = cloud_drift();
    float level = log2(max(512.0 * 0.045 / (viewport.y * (d.z + 0.03) * (d.z + 0.03)), 1e-3));
    vec2 towards = sun_direction.xy * 0.35;
    float large = textureLod(noise_map, q * 0.045 + drift, max(level, 0.0)).r;
    float fine = textureLod(noise_map, q * 0.17 + 0.4 + 1.5 * drift, max(level + 1.9, 0.0)).r;
    float finest = textureLod(noise_map, q * 0.61 + 0.7 + 2.0 * drift, max(level + 3.8, 0.0)).g;
    float height = 0.62 * large + 0.27 * fine + 0.11 * finest;
    float before = 0.62 * textureLod(noise_map, (q + towards) * 0.045 + drift, max(level, 0.0)).r + 0.27 * fine + 0.055;
    float edge = cloud_edge();
    float thick = saturate((height - edge) * 5.0);
    float lit = exp2(-4.0 * max(before - edge, 0.0) - 1.2 * thick);
    float forward = pow(saturate(dot(d, sun_direction.xyz) * 0.5 + 0.5), 12.0);
    vec3 cloud = sun_irradiance.rgb * (0.05 + 0.15 * lit + 0.16 * forward * (1.0 - thick)) + sky_harmonics[0].rgb * (0.22 - 0.07 * thick);
    cloud *= 1.0 - 0.6 * orbit.w;
    float share = smoothstep(0.0, 0.1, cover) * smoothstep(0.0, 0.35, thick) * smoothstep(0.015, 0.12, d.z);
    return mix(sky, mix(sky, cloud, smoothstep(0.0, 0.30, d.z) * 0.5 + 0.5), share);
}

#if LOOKED_UP
uniform sampler2D sky_map;
#endif
const float FLAT_REACH = 1.01;  // stereographic: the horizon is at 1

vec3 sky_above(vec3 d) {
    vec3 c = sky_radiance(normalize(vec3(d.xy, max(d.z, 0.002))));
    return d.z > 0.01 ? with_clouds(with_cirrus(c, d), d) : c;
}

void main() {
#if FLAT
    vec2 q = (uv * 2.0 - 1.0) * FLAT_REACH;
    float rr = dot(q, q);
    colour = vec4(sky_above(vec3(2.0 * q, 1.0 - rr) / (1.0 + rr)), SKY_DISTANCE);
#else
    vec4 far_point = world_from_clip * vec4(uv * 2.0 - 1.0, 1.0, 1.0);
    vec3 d = normalize(far_point.xyz / far_point.w - eye.xyz);
#if LOOKED_UP
    vec3 above = normalize(vec3(d.xy, max(d.z, 0.0)));
    vec3 c = textureLod(sky_map, above.xy / (1.0 + above.z) * (0.5 / FLAT_REACH) + 0.5, 0.0).rgb;
#else
    if (water.w > 0.0) {
        colour = vec4(deep_water(d), SKY_DISTANCE);
        return;
    }
    vec3 c = sky_above(d);
#endif
    c += sun_irradiance.rgb * smoothstep(0.99995, 0.99998, dot(d, sun_direction.xyz)) * 120.0;
    colour = vec4(c, SKY_DISTANCE);
#endif
}
