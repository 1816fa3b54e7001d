// A drop: white where the sun is on it, soft at the edge.
#include "surface.glsl"

in vec3 p_w;
in vec3 transmittance;
in vec3 inscatter;
in float share;
out vec4 colour;

void main() {
    vec2 at = gl_PointCoord * 2.0 - 1.0;
    float inside = 1.0 - smoothstep(0.3, 1.0, length(at));
    vec3 light = sky_irradiance(vec3(0.0, 0.0, 1.0)) + sun_irradiance.rgb * 0.7;
    colour = vec4(0.6 / PI * light * transmittance + inscatter, 0.55 * inside * share);
}
