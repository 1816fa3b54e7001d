// Thirteen taps of a Gaussian along one direction.
in vec2 uv;
out vec4 colour;

uniform sampler2D source_map;
uniform vec2 step_uv;

void main() {
    vec3 sum = vec3(0.0);
    float total = 0.0;
    for (int i = -6; i <= 6; i++) {
        float weight = exp(-float(i * i) / 14.0);
        sum += textureLod(source_map, uv + step_uv * float(i), 0.0).rgb * weight;
        total += weight;
    }
    colour = vec4(sum / total, 1.0);
}
