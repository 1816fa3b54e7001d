// A vertex of a model: every node has its own place in the world.
#include "sky.glsl"
#include "models/parts.glsl"

in vec3 position, normal, part;  // part: share of open sky, material, node
in vec4 paint;

uniform mat3x4 world_from_node[MAX_NODES];  // columns: the rows of an affine matrix

out vec3 p_w, n_w;
out float open_share;
out vec4 paint_at;
flat out int material;
out vec3 at_node;
out vec3 clearness, veil;  // of the air before the vertex

void main() {
    mat3x4 place = world_from_node[int(part.z + 0.5)];
    p_w = vec4(position, 1.0) * place;
    n_w = vec4(normal, 0.0) * place;
    at_node = position;
    open_share = part.x;
    material = int(part.y + 0.5);
    paint_at = paint;
#ifndef DEPTH_ONLY
    haze_to(p_w, clearness, veil);
#endif
    gl_Position = clip_from_world * vec4(p_w, 1.0);
}
