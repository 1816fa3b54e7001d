// Clear glass: what it mirrors, its bright edges, the joints of its panes and the scale painted beside them.
#include "surface.glsl"

in vec3 p_w;
in vec3 n_w;
out vec4 colour;

uniform vec3 box_low;
uniform vec3 box_high;

const float PANE_M = 2.4;
const vec3 EDGE = vec3(0.34, 0.72, 0.62);  // light that has come a long way through glass
const vec3 PAINT = vec3(0.85);

// Share of a pixel that a line of this half width covers, its middle so far away.
float line(float half_width, float away) {
    float width = max(fwidth(away), 1e-4);
    return saturate(0.5 + (half_width - away) / width) * min(2.0 * half_width / width, 1.0);
}

float to_next(float at, float step) { return (0.5 - abs(fract(at / step) - 0.5)) * step; }

void main() {
    vec3 v = normalize(eye.xyz - p_w);
    vec3 n = normalize(n_w);
    float fresnel = 0.07 + 0.7 * pow(1.0 - saturate(dot(n, v)), 5.0);
    vec3 c = environment(reflect(-v, n), 0.02);

    float along = abs(n.x) > 0.5 ? p_w.y - box_low.y : p_w.x - box_low.x;
    float high = p_w.z - box_low.z, joint = to_next(along, PANE_M);
    float tenths = line(0.006, to_next(high, 0.1)) * step(joint, 0.10), halves = line(0.010, to_next(high, 0.5)) * step(joint, 0.22);
    float scale = max(tenths, halves) * step(0.03, joint);
    float seam = max(line(0.012, joint), line(0.06, box_high.z - p_w.z));
    vec3 light = sky_irradiance(vec3(0.0, 0.0, 1.0)) + sun_irradiance.rgb * 0.5 * max(sun_direction.z, 0.0);
    c = mix(c, EDGE / PI * light, seam);
    c = mix(c, PAINT / PI * light, scale);
    colour = vec4(c, max(fresnel, max(0.65 * seam, 0.6 * scale)));
}
