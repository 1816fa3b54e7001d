// Tinted glass seen from either side: denser where it turns away, lit a little by the sun.
#include "sky.glsl"

in vec3 p_w, n_w;
in vec4 tone;

out vec4 colour;

void main() {
    vec3 n = normalize(n_w);
    float facing = abs(dot(n, normalize(eye.xyz - p_w)));
    float shape = 0.65 + 0.5 * abs(dot(n, normalize(sun_direction.xyz + vec3(0.0, 0.0, 0.6))));
    float edge = pow(1.0 - facing, 3.0);
    colour = vec4(through_haze(tone.rgb * shape, p_w), clamp(tone.a * (1.0 + 0.9 * edge), 0.0, 1.0));
}
