// Rock in the sun's and the sky's light, once for every place: what software GL then only looks up.
#include "rock.glsl"
#include "shadow.glsl"
#include "grain.glsl"

in vec3 p_w;
in vec3 n_w;
in vec3 ground;
out vec4 root;

uniform float light_scale;

const vec3 LUMA = vec3(0.2126, 0.7152, 0.0722);

const float GRAIN_LEVEL = 4.0;  // what is finer is looked up in the grain (render/land/textures.py)

float broad_grain(vec3 n) {
    vec4 level = textureLod(noise_map, on_level(p_w), GRAIN_LEVEL);
    return mix(0.40 + 0.50 * level.g + 0.70 * level.a, 1.0, walled(n.z));
}

void main() {
    vec3 n = normalize(n_w);
    Traits traits = Traits(ground.x, ground.y, ground.z);
    Grain rock = rock_grain(p_w, n, traits);
    float relief = rock_relief(rock);
    vec3 shading_n = bumped(p_w, n, relief * 0.75, 1.0);
    vec3 albedo = rock_albedo(p_w, n, rock) / PI;
    float sun = saturate(dot(shading_n, sun_direction.xyz));
    // Under water scattered light fills the shadows.
    sun *= mix(sun_around(p_w + n * 0.5, 2.2), 1.0, 0.75 * smoothstep(0.2, 2.5, water.x - p_w.z));
    vec3 lit = albedo * sun_irradiance.rgb * sun;
    vec3 radiance = albedo * rock_ambient(shading_n, traits, relief) + lit;
    float grain = broad_grain(n);
    root = vec4(sqrt(radiance * grain / light_scale), dot(lit, LUMA) / max(dot(radiance, LUMA), 1e-6));
}
