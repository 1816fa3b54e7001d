// A vertex of a capsule, one of many: every instance has its place, its size and its material.
#include "sky.glsl"
#include "models/parts.glsl"

in vec3 position, normal;  // of a ball of radius 1 about the end that the vertex belongs to
in float end;              // -1 or 1 along z; 0: of a solid, in metres
in vec4 row_x, row_y, row_z;  // world from the capsule's middle
in vec4 size;                 // radius, half of the length, material, how much of a ghost is seen

out vec3 p_w, n_w;
out float open_share;
out vec4 paint_at;
flat out int material;
flat out float presence;
out vec3 clearness, veil;  // of the air before the vertex

const float PAINT_FAR = 9.0;
const float LEAST_PX = 0.8;  // radius: what is thinner breaks up into dots

void main() {
    float radius = size.x;
#ifndef DEPTH_ONLY
    vec4 axis = vec4(0.0, 0.0, end * size.y, 1.0);
    float away = (clip_from_world * vec4(dot(row_x, axis), dot(row_y, axis), dot(row_z, axis), 1.0)).w;
    float upright = length(vec3(clip_from_world[0][1], clip_from_world[1][1], clip_from_world[2][1]));
    radius = max(radius, LEAST_PX * 2.0 * max(away, 0.0) / (upright * viewport.y));
#endif
    vec4 p = vec4(radius * position + vec3(0.0, 0.0, end * size.y), 1.0);
    vec4 n = vec4(normal, 0.0);
    p_w = vec3(dot(row_x, p), dot(row_y, p), dot(row_z, p));
    n_w = vec3(dot(row_x, n), dot(row_y, n), dot(row_z, n));
    // Links hide each other where they meet; what has no ends is a solid of its own size.
    open_share = end == 0.0 ? 1.0 : 1.0 - 0.35 * abs(position.z);
    material = int(size.z + 0.5);
    presence = size.w;
    paint_at = vec4(PAINT_FAR);
#ifndef DEPTH_ONLY
    haze_to(p_w, clearness, veil);
#endif
    gl_Position = clip_from_world * vec4(p_w, 1.0);
}
