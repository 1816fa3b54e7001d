// Heaps of cloud in one layer, as the sky shows them and as they come between the sun and the ground.
#include "frame.glsl"
#include "noise_map.glsl"

const float CLOUD_BASE_M = 380.0, CLOUD_SHADE = 0.62;

vec2 cloud_drift() { return eye.w * vec2(3e-4, 1e-4); }

// Of what height of the noise on they are there.
float cloud_edge() { return 0.74 - 0.44 * sun_direction.w; }

// q: in the layer, in units of its height. The finest octave comes on top.
float cloud_height(vec2 q, float level) {
    vec2 drift = cloud_drift();
    return 0.62 * textureLod(noise_map, q * 0.045 + drift, max(level, 0.0)).r
        + 0.27 * textureLod(noise_map, q * 0.17 + 0.4 + 1.5 * drift, max(level + 1.9, 0.0)).r;
}

// Share of the sun that passes; a deck dims the sun itself.
float sun_past_clouds(vec3 p) {
    float cover = sun_direction.w * (1.0 - room.w);
    vec2 q = p.xy / CLOUD_BASE_M + sun_direction.xy / max(sun_direction.z, 0.05);
    float thick = saturate((cloud_height(q, 0.0) + 0.055 - cloud_edge()) * 5.0);
    return 1.0 - CLOUD_SHADE * smoothstep(0.0, 0.4, thick) * smoothstep(0.0, 0.1, cover) * (1.0 - smoothstep(0.5, 0.9, cover));
}
