// What is behind everything in orbit: a planet of sea, land and clouds through its air (sky_lut.frag), stars and the sun.
#include "surface.glsl"

in vec2 uv;
out vec4 colour;

#include "noise_map.glsl"

const float SKY_DISTANCE = 60000.0;
const float PLANET = 6360.0;                            // km, its radius
const vec2 TRACK = vec2(7.2, -2.6);                     // km/s, of the point below
const vec3 PLANET_ALBEDO = vec3(0.27, 0.29, 0.32);      // as sky_lut.frag has it
const vec3 SEA = vec3(0.005, 0.022, 0.055), SAND = vec3(0.19, 0.15, 0.085), WOODS = vec3(0.032, 0.062, 0.022);
const float SEA_ROUGHNESS = 0.22;
const float VEIL = 0.35;  // of the air's own light, seen straight down: more of it washes land and sea out
const vec3 AIR_COLOUR = vec3(0.43, 1.0, 2.35);          // optical depth relative to that of green light

// Noise whose tile is so long; `pixel` is how much of the ground a pixel covers. All in km.
float noise(vec2 place, float tile, float pixel) {
    return textureLod(noise_map, place / tile, max(log2(512.0 * pixel / tile), 0.0)).r;
}

// air: what the air and a grey planet below send, and its depth.
vec3 planet(vec3 d, vec3 n, float pixel, vec4 air) {
    float off = length(n.xy), mu = dot(n, sun_direction.xyz);
    vec2 place = n.xy * (PLANET * asin(min(off, 1.0)) / max(off, 1e-5)) + TRACK * eye.w + vec2(5200.0, -1500.0);
    vec2 warped = place + 420.0 * (vec2(noise(place, 3100.0, pixel), noise(place + 1270.0, 3100.0, pixel)) - 0.5);
    vec2 towards = 14.0 * sun_direction.xy / max(length(sun_direction.xy), 1e-3);
    float system = noise(warped, 4700.0, pixel);
    float height = 0.50 * system + 0.32 * noise(warped, 900.0, pixel) + 0.18 * noise(place, 170.0, pixel);
    float before = 0.50 * system + 0.32 * noise(warped + towards, 900.0, pixel) + 0.18 * noise(place + towards, 170.0, pixel);
    float cloud = smoothstep(0.535, 0.65, height), shade = smoothstep(0.535, 0.65, before);
    float land = smoothstep(0.515, 0.525, 0.72 * noise(place + 900.0, 11000.0, pixel) + 0.28 * noise(place, 1300.0, pixel));
    float dry = smoothstep(0.44, 0.66, noise(place - 700.0, 2300.0, pixel));
    vec3 ground = mix(SEA, mix(WOODS, SAND, dry) * (0.7 + 0.6 * noise(place, 260.0, pixel)), land);
    vec3 light = exp(-0.12 * AIR_COLOUR / max(mu + 0.03, 0.04)) * smoothstep(-0.02, 0.06, mu) * sun_irradiance.rgb;
    ground *= max(mu, 0.0) * (1.0 - 0.55 * shade) / PI;
    ground += (1.0 - land) * (1.0 - 0.8 * shade) * ggx(n, -d, sun_direction.xyz, 0.02, SEA_ROUGHNESS);
    float relief = clamp(0.82 + 4.0 * (height - before), 0.45, 1.15);
    vec3 top = vec3(0.74) * relief * max(mu, 0.0) / PI;
    vec3 surface = mix(ground, top, 0.96 * cloud);
    vec3 clear = light * exp(-air.a * AIR_COLOUR);
    vec3 veil = max(air.rgb - clear * PLANET_ALBEDO * max(mu, 0.0) / PI, vec3(0.0));
    return clear * surface + veil * mix(VEIL, 1.0, pow(1.0 - max(-dot(n, d), 0.0), 3.0));
}

// One in each cell of a grid on the faces of a cube, most of them too faint to be seen.
vec3 stars(vec3 d, float pixel) {
    vec3 a = abs(d);
    float face = a.z > max(a.x, a.y) ? 0.0 : a.x > a.y ? 17.0 : 43.0;
    vec2 q = 70.0 * (face == 0.0 ? d.xy / a.z : face == 17.0 ? d.yz / a.x : d.xz / a.y);
    vec3 p = fract((floor(q).xyx + face + step(0.0, d.zxy) * 7.0) * vec3(0.1031, 0.1030, 0.0973));
    p += dot(p, p.yzx + 33.33);
    vec3 chance = fract((p.xxy + p.yzz) * p.zyx);
    float off = length(fract(q) - 0.15 - 0.7 * chance.xy) / (70.0 * max(1.1 * pixel, 6e-4));
    return mix(vec3(1.0, 0.82, 0.62), vec3(0.75, 0.85, 1.0), chance.x) * pow(chance.z, 18.0) * 2.0 * min(1.0, pow(9e-4 / pixel, 1.5)) * exp(-off * off);
}

void main() {
    vec4 far_point = world_from_clip * vec4(uv * 2.0 - 1.0, 1.0, 1.0);
    vec3 d = normalize(far_point.xyz / far_point.w - eye.xyz);
    vec4 air = textureLod(sky_lut, sky_coordinates(d), 0.0);
    float pixel = length(dFdx(d));
    float from_middle = PLANET + 1e-3 * (orbit.x + eye.z), along = -from_middle * d.z;
    float inside = along * along - from_middle * from_middle + PLANET * PLANET;
    float sunward = dot(d, sun_direction.xyz);
    vec3 c = air.rgb;
    if (inside > 0.0 && along > 0.0) {
        float reach = along - sqrt(inside);
        vec3 n = (vec3(0.0, 0.0, from_middle) + d * reach) / PLANET;
        c = planet(d, n, pixel * reach / max(-dot(n, d), 0.04), air);
    } else {
        c += stars(d, pixel) * exp2(-60.0 * air.g) + sun_irradiance.rgb * smoothstep(0.99995, 0.99998, sunward) * 120.0;
    }
    c += sun_irradiance.rgb * (0.5 * pow(max(sunward, 0.0), 3000.0) + 0.02 * pow(max(sunward, 0.0), 120.0));
    colour = vec4(c, SKY_DISTANCE);
}
