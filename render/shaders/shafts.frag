// Shafts of light under water: the water's own light on the way to what is seen, as ripples gather the sun's or keep it off.
#include "sky.glsl"
#include "caustics.glsl"

in vec2 uv;
out vec4 colour;

uniform sampler2D opaque_map;

const int STEPS = 12;
const float REACH_M = 14.0, GAIN = 2.2, BLUR_M = 0.11;  // finer shafts would be grain

void main() {
    vec4 end = world_from_clip * vec4(2.0 * uv - 1.0, 1.0, 1.0);
    vec3 ray = normalize(end.xyz / end.w - eye.xyz);
    float reach = min(texelFetch(opaque_map, ivec2(gl_FragCoord.xy), 0).a, REACH_M);
    if (ray.z > 0.0) reach = min(reach, water.w / ray.z);
    float surface_m = eye.z + water.w, step_m = reach / float(STEPS);
    float first = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
    vec3 more = vec3(0.0);
    for (int k = 0; k < STEPS; k++) {
        float along = (float(k) + first) * step_m;
        more += (caustics(eye.xyz + along * ray, surface_m, BLUR_M) - 1.0) * exp(-0.55 * WATER_ABSORPTION * along);
    }
    more *= 0.55 * WATER_ABSORPTION * step_m;
    colour = vec4(GAIN * deep_water(ray) * more, 0.0);
}
