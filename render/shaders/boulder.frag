// Fallen blocks: broken faces, damp at the water's edge.
#include "surface.glsl"
#include "shadow.glsl"

in vec3 p_w;
in vec3 n_w;
in vec3 albedo;
in float rise;
in vec3 transmittance;
in vec3 inscatter;
out vec4 colour;

#include "noise_map.glsl"

vec4 grain_on(vec3 n) {
    vec3 weight = pow(abs(n), vec3(4.0));
    weight /= weight.x + weight.y + weight.z;
#if FULL_MATERIALS
    return texture(noise_map, p_w.yz * 0.33) * weight.x + texture(noise_map, p_w.xz * 0.33) * weight.y
        + texture(noise_map, p_w.xy * 0.33) * weight.z;
#else
    vec2 side = weight.x > weight.y ? p_w.yz : p_w.xz;
    return texture(noise_map, (weight.z > 0.5 ? p_w.xy : side) * 0.33);
#endif
}

void main() {
    if (clipped(p_w)) discard;
#if FULL_MATERIALS
    vec3 n = normalize(n_w);
#else  // faces share their corners
    vec3 face = cross(dFdx(p_w), dFdy(p_w));
    vec3 n = normalize(0.8 * face / max(length(face), 1e-12) + 0.2 * n_w);
#endif
    vec4 grain = grain_on(n);
    n = normalize(n + (grain.rga - 0.5) * 0.8);
    vec3 block = albedo * (0.45 + 0.7 * grain.r + 0.4 * grain.g) * mix(0.4, 1.0, smoothstep(0.0, 0.6, p_w.z - water.x));
    float open_sky = mix(0.3, 0.7, saturate(rise * 0.5 + 0.5));
    vec3 ambient = sky_irradiance(n) * open_sky + land_light() * 0.14;
    float sun = saturate(dot(n, sun_direction.xyz));
    if (sun > 0.0) sun *= sun_visibility(p_w, n);
    vec3 radiance = block / PI * (sun_irradiance.rgb * sun + ambient);
    colour = vec4(radiance * transmittance + inscatter, distance(p_w, eye.xyz));
}
