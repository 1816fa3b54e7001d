// A drop has the sky in it, upside down, and the little sun there is.
#include "sky.glsl"

in float share;
in float aside;
out vec4 colour;

void main() {
    vec3 light = sky_irradiance(vec3(0.0, 0.0, 1.0)) * 1.1 + sun_irradiance.rgb * 0.12;
    colour = vec4(light / PI, share * (1.0 - aside * aside));
}
