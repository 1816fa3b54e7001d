// The land laid out flat, each vertex at its place in the grid that it was cut from.
in vec3 position;
in vec3 normal;
in vec4 traits;
in vec2 place;

out vec3 p_w;
out vec3 n_w;
out vec3 ground;  // sky visibility, loose, hollow

void main() {
    p_w = position;
    n_w = normal;
    ground = traits.xyz;
    gl_Position = vec4(place.yx * 2.0 - 1.0, 0.0, 1.0);
}
