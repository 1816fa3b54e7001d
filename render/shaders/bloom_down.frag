// Quarter-size copy of the scene, fireflies held down.
in vec2 uv;
out vec4 colour;

uniform sampler2D source_map;
uniform vec2 texel;

void main() {
    vec3 sum = vec3(0.0);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            sum += min(textureLod(source_map, uv + (vec2(i, j) * 2.0 - 1.0) * texel, 0.0).rgb, vec3(30.0));
    colour = vec4(sum * 0.25, 1.0);
}
