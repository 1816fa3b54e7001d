// A ring's outer side has the bright sky in it, and a crown of drops stands in the middle at first.
#include "sky.glsl"

in vec2 at;
in float age;
in float share;
out vec4 colour;

void main() {
    float r = length(at);
    float off = (r - 0.9 * sqrt(age)) / 0.12;
    float ring = exp(-off * off) * (1.0 - age);
    float crown = exp(-r * r * 60.0) * saturate(1.0 - 4.0 * age);
    float cover = share * (0.45 * ring + 0.8 * crown);
    if (cover < 0.01 || r > 1.0) discard;
    colour = vec4(sky_irradiance(vec3(0.0, 0.0, 1.0)) * 0.95 / PI, cover);
}
