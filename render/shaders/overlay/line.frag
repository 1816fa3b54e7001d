// A line that fades over its last pixel.
#include "sky.glsl"

in vec3 p_w, tone;
in float opacity;
noperspective in float across_px;

uniform float half_width_px;

out vec4 colour;

void main() {
    float edge = clamp(half_width_px + 0.5 - abs(across_px), 0.0, 1.0);
    colour = vec4(through_haze(tone, p_w), opacity * edge);
}
