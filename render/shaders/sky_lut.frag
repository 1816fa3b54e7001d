// Single scattering of the sun in air, haze and ozone, with a term that stands for the higher orders.
// Coordinates: u azimuth, v elevation with a square-root law that is dense at the horizon (sky.glsl reads it back).
in vec2 uv;
out vec4 colour;

uniform vec3 sun;          // towards the sun
uniform float mie_scale;   // haze relative to clear air
#if ORBIT
uniform float orbit_m;     // height of the eye over the sea
uniform float horizon;     // elevation of the planet's edge from there
#else
uniform float deck;        // 0..1, how far clouds have closed, but for a gap below the sun
uniform float rain;        // 0..1, of the heaviest
#endif
uniform float sun_power;   // irradiance above the air

const float PI = 3.14159265;
const float GROUND = 6360e3, TOP = 6440e3;
const vec3 RAYLEIGH = vec3(5.802, 13.558, 33.1) * 1e-6;
const vec3 OZONE = vec3(0.650, 1.881, 0.085) * 1e-6;
const float MIE_SCATTER = 3.996e-6, MIE_EXTINCTION = 4.4e-6;
const float MIE_G = 0.78;
const int VIEW_STEPS = 32, LIGHT_STEPS = 10;

float sphere_exit(vec3 p, vec3 d, float radius) {
    float b = dot(p, d), c = dot(p, p) - radius * radius, h = b * b - c;
    return h < 0.0 ? -1.0 : -b + sqrt(h);
}

float sphere_entry(vec3 p, vec3 d, float radius) {
    float b = dot(p, d), c = dot(p, p) - radius * radius, h = b * b - c;
    return h < 0.0 ? -1.0 : -b - sqrt(h);
}

// Air, haze and ozone relative to the ground.
vec3 densities(float height) {
    return vec3(exp(-height / 8000.0), exp(-height / 1200.0), max(0.0, 1.0 - abs(height - 25e3) / 15e3));
}

vec3 extinction(vec3 density) {
    return RAYLEIGH * density.x + MIE_EXTINCTION * mie_scale * density.y + OZONE * density.z;
}

vec3 sun_transmittance(vec3 p) {
    float dt = sphere_exit(p, sun, TOP) / float(LIGHT_STEPS);
    vec3 depth = vec3(0.0);
    for (int i = 0; i < LIGHT_STEPS; i++)
        depth += densities(max(length(p + sun * (float(i) + 0.5) * dt) - GROUND, 0.0)) * dt;
    return exp(-extinction(depth)) * (sphere_entry(p, sun, GROUND) > 0.0 ? 0.0 : 1.0);
}

#if ORBIT
const vec3 PLANET_ALBEDO = vec3(0.27, 0.29, 0.32);  // mean of sea, land and clouds (planet.frag has them one by one)

// From beyond the air: what its lit part sends here, and the planet behind it; alpha is the optical depth of green light.
void main() {
    float azimuth = uv.x * 2.0 * PI, v = uv.y * 2.0 - 1.0;
    float elevation = horizon + sign(v) * v * v * (PI * 0.5 - sign(v) * horizon);
    vec3 ray = vec3(cos(elevation) * cos(azimuth), cos(elevation) * sin(azimuth), sin(elevation));
    vec3 eye = vec3(0.0, 0.0, GROUND + orbit_m);
    float into = sphere_entry(eye, ray, TOP), to_ground = sphere_entry(eye, ray, GROUND);
    float dt = (to_ground > 0.0 ? to_ground : sphere_exit(eye, ray, TOP)) - into;
    colour = vec4(0.0);
    if (into <= 0.0) return;
    dt /= float(VIEW_STEPS);
    float mu = dot(ray, sun);
    float phase_air = 3.0 / (16.0 * PI) * (1.0 + mu * mu);
    float phase_haze = 3.0 / (8.0 * PI) * ((1.0 - MIE_G * MIE_G) * (1.0 + mu * mu))
        / ((2.0 + MIE_G * MIE_G) * pow(1.0 + MIE_G * MIE_G - 2.0 * MIE_G * mu, 1.5));
    vec3 radiance = vec3(0.0), depth = vec3(0.0);
    for (int i = 0; i < VIEW_STEPS; i++) {
        vec3 p = eye + ray * (into + dt * (float(i) + 0.5));
        vec3 density = densities(length(p) - GROUND);
        vec3 seen = exp(-extinction(depth + density * dt * 0.5));
        depth += density * dt;
        float day = clamp(dot(normalize(p), sun) * 3.0 + 0.35, 0.0, 1.0);
        vec3 air = RAYLEIGH * density.x;
        float haze = MIE_SCATTER * mie_scale * density.y;
        vec3 lit = sun_transmittance(p);
        radiance += seen * dt * (lit * (air * phase_air + haze * phase_haze) + (air + haze) * 0.085 * day * sqrt(lit));
    }
    vec3 through = extinction(depth);
    if (to_ground > 0.0) {
        vec3 up = normalize(eye + ray * to_ground);
        radiance += exp(-through) * sun_transmittance(up * (GROUND + 200.0)) * max(dot(up, sun), 0.0) * PLANET_ALBEDO / PI;
    }
    colour = vec4(radiance * sun_power, through.g);
}
#else
void main() {
    float azimuth = uv.x * 2.0 * PI, v = uv.y * 2.0 - 1.0;
    float elevation = sign(v) * v * v * PI * 0.5;
    vec3 ray = vec3(cos(elevation) * cos(azimuth), cos(elevation) * sin(azimuth), sin(elevation));
    vec3 eye = vec3(0.0, 0.0, GROUND + 200.0);
    float to_ground = sphere_entry(eye, ray, GROUND);
    float reach = to_ground > 0.0 ? to_ground : sphere_exit(eye, ray, TOP);

    float mu = dot(ray, sun);
    float phase_air = 3.0 / (16.0 * PI) * (1.0 + mu * mu);
    float phase_haze = 3.0 / (8.0 * PI) * ((1.0 - MIE_G * MIE_G) * (1.0 + mu * mu))
        / ((2.0 + MIE_G * MIE_G) * pow(1.0 + MIE_G * MIE_G - 2.0 * MIE_G * mu, 1.5));
    float day = clamp(sun.z * 3.0 + 0.35, 0.0, 1.0);
    // Light that was scattered before comes from higher up, where a low sun is still white: dusk stays blue overhead.
    vec3 lift = vec3(0.0, 0.0, 15e3 * (1.0 - smoothstep(0.05, 0.35, sun.z)));

    vec3 radiance = vec3(0.0), depth = vec3(0.0);
    float before = 0.0;
    for (int i = 0; i < VIEW_STEPS; i++) {
        float a = (float(i) + 1.0) / float(VIEW_STEPS);
        float dt = reach * a * a - before;
        vec3 p = eye + ray * (before + dt * 0.5);
        before += dt;
        vec3 density = densities(length(p) - GROUND);
        vec3 seen = exp(-extinction(depth + density * dt * 0.5));
        depth += density * dt;
        vec3 lit = sun_transmittance(p);
        vec3 air = RAYLEIGH * density.x;
        float haze = MIE_SCATTER * mie_scale * density.y;
        radiance += seen * dt * (lit * (air * phase_air + haze * phase_haze) + (air + haze) * 0.085 * day * sqrt(sun_transmittance(p + lift)));
    }
    if (to_ground > 0.0) radiance += exp(-extinction(depth)) * sun_transmittance(eye) * max(sun.z, 0.0) * 0.12 / PI;
    // Overhead a deck is three times as bright as at the horizon (Moon and Spencer 1942); light comes in below its edge.
    float gap = exp(-pow((elevation - 0.07) / 0.11, 2.0)) * (0.25 + 0.75 * smoothstep(0.2, 0.95, dot(normalize(ray.xy), normalize(sun.xy + 1e-6))));
    float level = dot(sun_transmittance(eye), vec3(0.33)) * (0.04 + 0.14 * max(sun.z, 0.0)) * (1.0 + 2.0 * max(ray.z, 0.0)) / 3.0;
    gap *= 1.0 - 0.75 * rain;
    level *= 1.0 - 0.25 * rain;
    radiance = mix(radiance, level * vec3(0.93, 1.0, 1.06), deck * (1.0 - gap) * 0.9);
    colour = vec4(radiance * sun_power, 1.0);
}
#endif
