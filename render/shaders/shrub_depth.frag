// Leaves seen by the sun.
in vec2 leaf_uv;

uniform sampler2D leaf_map;

void main() {
    if (texture(leaf_map, leaf_uv, -0.7).a < 0.38) discard;
}
