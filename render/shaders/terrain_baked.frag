// Two noise fetches for grain, one fetch of each shadow map; everything else came with the vertices.
#include "shadow.glsl"

in vec3 p_w;
in vec3 p_sun;
in vec3 ambient;
in vec3 sun;
in float visibility;
in vec3 inscatter;
in vec2 bedding_uv;
in float steep;
out vec4 colour;

uniform sampler2D noise_map;

void main() {
    vec2 beds = texture(noise_map, bedding_uv).rg, gravel = texture(noise_map, p_w.xy * 0.024).rg;
    vec2 grain = mix(0.5 + (gravel - 0.5) * 0.8, beds, steep);
    float lit = visibility < 0.0 ? texture(sun_shadow_map, vec3(p_sun.xy, p_sun.z - water.y)) : visibility;
    lit = min(lit, vehicle_sun(p_w));
    float relief = 0.44 + 0.72 * grain.r + 0.40 * grain.g;
    colour = vec4((ambient + sun * lit) * relief + inscatter, distance(p_w, eye.xyz));
}
