// A puff of spray, soft at its edge: white by sky and sun, most of it where the sun is behind.
#include "surface.glsl"

in float depth_m;
in float share;
out vec4 colour;

void main() {
    vec2 at = gl_PointCoord * 2.0 - 1.0;
    float within = 1.0 - dot(at, at);
    if (within <= 0.0) discard;
    vec4 q = world_from_clip * vec4(gl_FragCoord.xy * viewport.zw * 2.0 - 1.0, 0.5, 1.0);
    vec3 v = normalize(eye.xyz - q.xyz / q.w);
    float through = 0.5 + 1.5 * pow(saturate(-dot(v, sun_direction.xyz)), 6.0);
    vec3 white = 0.8 / PI * (sky_irradiance(vec3(0.0, 0.0, 1.0)) + sun_irradiance.rgb * through);
    colour = vec4(through_haze(white, eye.xyz - v * depth_m), share * within * within);
}
