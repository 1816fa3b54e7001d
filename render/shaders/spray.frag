// A drop as a small ball of broken water: lit on its sunny side, the sky in its rim, soft at the edge so that they merge.
#include "surface.glsl"

in vec3 p_w;
in vec3 transmittance;
in vec3 inscatter;
in float share;
out vec4 colour;

void main() {
    vec2 at = gl_PointCoord * 2.0 - 1.0;
    float r2 = dot(at, at);
    if (r2 > 1.0) discard;
    float inside = 1.0 - smoothstep(0.25, 1.0, sqrt(r2));
    vec3 v = normalize(eye.xyz - p_w);
    vec3 right = normalize(cross(vec3(0.0, 0.0, 1.0), v) + vec3(1e-5, 0.0, 0.0));
    vec3 n = right * at.x - cross(v, right) * at.y + v * sqrt(1.0 - r2);
    vec3 l = sun_direction.xyz;
    // Light goes through drops: the far side is not dark, and against the sun they shine.
    float through = 0.45 + 0.55 * saturate(dot(n, l)) + 0.8 * pow(saturate(-dot(v, l)), 6.0);
    vec3 c = 0.6 / PI * (sky_irradiance(n) + sun_irradiance.rgb * 0.8 * through);
#if FULL_MATERIALS
    float fresnel = 0.02 + 0.6 * pow(1.0 - saturate(dot(n, v)), 4.0);
    c = mix(c, sky_radiance(reflect(-v, n)), fresnel);
    c += sun_irradiance.rgb * 0.02 * pow(saturate(dot(reflect(-v, n), l)), 60.0);
#endif
    colour = vec4(c * transmittance + inscatter, 0.6 * inside * share);
}
