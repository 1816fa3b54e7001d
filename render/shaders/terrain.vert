// Terrain with full materials.
#include "frame.glsl"

in vec3 position;
in vec3 normal;
in vec4 traits;

out vec3 p_w;
out vec3 n_w;
out vec3 ground;  // sky visibility, loose, hollow

void main() {
    p_w = position;
    n_w = normal;
    ground = traits.xyz;
    gl_Position = clip_from_world * vec4(position, 1.0);
}
