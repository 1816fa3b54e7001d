// One noise fetch for grain, one fetch of each shadow map; everything else came with the vertices.
#include "shadow.glsl"

in vec3 p_w;
in vec3 p_sun;
in vec3 ambient;
in vec3 sun;
in vec3 inscatter;
in vec2 detail_uv;
out vec4 colour;

uniform sampler2D noise_map;

void main() {
    vec4 grain = texture(noise_map, detail_uv);
    float lit = texture(sun_shadow_map, vec3(p_sun.xy, p_sun.z - water.y));
    lit = min(lit, vehicle_sun(p_w));
    float relief = (0.60 + 0.50 * grain.r + 0.30 * grain.g);
    colour = vec4((ambient + sun * lit) * relief + inscatter, distance(p_w, eye.xyz));
}
