// What flies as points: how large they are in the picture, how they are lit.
#include "sky.glsl"

float point_px(float radius_m, float high_px, float depth_m) {
    float scale = length(vec3(clip_from_world[0][1], clip_from_world[1][1], clip_from_world[2][1]));
    return radius_m * high_px * scale / depth_m;
}

// Drops there seen from the eye: white by sky and sun, most of it where the sun is behind, through the haze.
vec3 lit_drops(vec4 fragment, float depth_m, float from_front, float from_behind) {
    vec4 q = world_from_clip * vec4(fragment.xy * viewport.zw * 2.0 - 1.0, 0.5, 1.0);
    vec3 v = normalize(eye.xyz - q.xyz / q.w);
    float through = from_front + from_behind * pow(saturate(-dot(v, sun_direction.xyz)), 6.0);
    float past_clouds = 1.0 - 0.7 * sun_direction.w;  // of a closed deck the sun finds a gap now and then
    vec3 white = 0.9 / PI * (sky_irradiance(vec3(0.0, 0.0, 1.0)) + sun_irradiance.rgb * through * past_clouds);
    return through_haze(white, eye.xyz - v * depth_m);
}
