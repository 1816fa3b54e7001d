// What a rotor blows over the water: short waves that run outwards from under its rim, and spray where they begin.
in vec2 off;
out vec4 mark;  // slope of the surface along world x and y, foam, air

uniform vec3 rotor;  // radius [m], strength 0..1, wall time [s]
#include "noise_map.glsl"

void main() {
    float r = length(off), share = r / rotor.x;
    vec2 outwards = off / max(r, 0.05);
    vec4 gusts = textureLod(noise_map, outwards * 0.08 + vec2(0.0, rotor.z * 0.013), 2.0);
    float around = smoothstep(0.35, 0.95, share) * (1.0 - smoothstep(1.3 + gusts.g, 2.6, share));
    float stretch = r + 1.4 * gusts.r;
    float waves = cos(5.2 * stretch - 15.0 * rotor.z) + 0.8 * cos(9.7 * stretch - 21.0 * rotor.z + 4.0 * gusts.b);
    float spray = exp(-(share - 1.15) * (share - 1.15) / 0.10) * smoothstep(0.42, 0.72, gusts.a);
    mark = vec4(outwards * waves * around * 0.28 * rotor.y, 0.75 * spray * rotor.y * rotor.y, 0.0);
}
