// The stream of a screw: boils that rise where it begins and are carried along, widening and dying away.
in vec2 off;
out vec4 mark;  // slope of the surface along world x and y, foam, air

uniform vec4 wash;  // xy unit vector along the stream, z strength 0..1, w its length at full strength [m]
uniform float time_s;
#include "noise_map.glsl"

void main() {
    float along = dot(off, wash.xy), aside = dot(off, vec2(-wash.y, wash.x));
    float reach = wash.w * (0.35 + 0.65 * wash.z);
    float width = 0.26 + 0.13 * max(along, 0.0);
    float there = smoothstep(-0.25, 0.15, along) * exp(-max(along, 0.0) / (0.45 * reach)) * exp(-aside * aside / (width * width));
    vec2 carried = off - wash.xy * time_s * (0.8 + 1.6 * wash.z);
    vec4 boils = textureLod(noise_map, carried * 0.21, 0.0);
    vec4 fine = textureLod(noise_map, carried.yx * 0.53, 0.0);
    float strong = sqrt(wash.z) * there;
    vec2 slope = (vec2(boils.r, boils.b) - 0.5 + 0.6 * (vec2(fine.g, fine.r) - 0.5)) * 0.8 * strong;
    mark = vec4(slope, 0.95 * strong * smoothstep(0.25, 0.7, boils.g + 0.35 * fine.b), 0.9 * strong);
}
