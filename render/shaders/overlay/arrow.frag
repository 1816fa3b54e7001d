// Arrows glow a little, so that they read in shade as well.
#include "sky.glsl"

in vec3 p_w, n_w, tone;

out vec4 colour;

void main() {
    float shape = 0.55 + 0.45 * dot(normalize(n_w), normalize(sun_direction.xyz + vec3(0.0, 0.0, 0.6)));
    colour = vec4(through_haze(tone * (0.35 + 1.1 * shape), p_w), 1.0);
}
