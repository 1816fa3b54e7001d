// The river's surface in channel coordinates.
#include "sky.glsl"

in vec2 place;
in float depth;
in float lateral;
in float slope;

#if !WALLS
const float BANK_SLACK = 0.0;    // a lake's shores are flat
#elif FULL_MATERIALS
const float BANK_SLACK = 0.006;  // of the distance
#else
const float BANK_SLACK = 0.035;
#endif

out vec3 p_w;
out vec2 channel;  // across and along the flow in m
out vec2 flow;     // unit direction in the world
out float depth_m;
out vec3 transmittance;
out vec3 inscatter;
out float riffle;
out float lump;  // how far the walls stand back here

#include "noise_map.glsl"

void main() {
    p_w = vec3(place, water.x);
    channel = vec2(lateral, place.x);
    flow = normalize(vec2(1.0, slope));
    depth_m = depth;
    riffle = smoothstep(0.46, 0.62, textureLod(noise_map, channel * vec2(0.012, 0.006), 0.0).r);
    lump = textureLod(noise_map, vec2(place.x * 0.004 + sign(lateral) * 0.3, 0.5), 0.0).r - 0.5;
    haze_to(p_w, transmittance, inscatter);
    gl_Position = clip_from_world * vec4(p_w, 1.0);
    // Coarse banks may bulge through the surface far away: there the water takes the depth of a nearer point.
    vec3 way = eye.xyz - p_w;
    vec4 nearer = clip_from_world * vec4(p_w + way * BANK_SLACK, 1.0);
    gl_Position.z = nearer.z / nearer.w * gl_Position.w;
}
