// A vertex of a capsule, one of many: every instance has its place, its size and its material.
#include "sky.glsl"
#include "models/parts.glsl"

in vec3 position, normal;  // of a ball of radius 1 about the end that the vertex belongs to
in float end;              // -1 or 1 along z
in vec4 row_x, row_y, row_z;  // world from the capsule's middle
in vec3 size;                 // radius, half of the length, material

out vec3 p_w, n_w;
out float open_share;
out vec4 paint_at;
flat out int material;
out vec3 clearness, veil;  // of the air before the vertex

const float PAINT_FAR = 9.0;

void main() {
    vec4 p = vec4(size.x * position + vec3(0.0, 0.0, end * size.y), 1.0);
    vec4 n = vec4(normal, 0.0);
    p_w = vec3(dot(row_x, p), dot(row_y, p), dot(row_z, p));
    n_w = vec3(dot(row_x, n), dot(row_y, n), dot(row_z, n));
    open_share = 1.0 - 0.35 * abs(position.z);  // links hide each other where they meet
    material = int(size.z + 0.5);
    paint_at = vec4(PAINT_FAR);
#ifndef DEPTH_ONLY
    haze_to(p_w, clearness, veil);
#endif
    gl_Position = clip_from_world * vec4(p_w, 1.0);
}
