// A vertex of a model: every node has its own place in the world.
#include "sky.glsl"
#include "models/parts.glsl"

in vec3 position, normal, part;  // part: share of open sky, material, node
in vec4 paint;

uniform mat4 world_from_node[MAX_NODES];

out vec3 p_w, n_w;
out float open_share;
out vec4 paint_at;
flat out int material;
out vec3 clearness, veil;  // of the air before the vertex

void main() {
    mat4 place = world_from_node[int(part.z + 0.5)];
    vec4 p = place * vec4(position, 1.0);
    p_w = p.xyz;
    n_w = mat3(place) * normal;
    open_share = part.x;
    material = int(part.y + 0.5);
    paint_at = paint;
#ifndef DEPTH_ONLY
    haze_to(p_w, clearness, veil);
#endif
    gl_Position = clip_from_world * p;
}
