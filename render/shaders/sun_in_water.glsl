// How much of the sun reaches what is seen in water: light that comes back out has gone in elsewhere.
#define ROTATED
#include "shadow.glsl"

const int TAPS_ABOUT = max(SHADOW_TAPS, 4);

// As `sun_past_casters`, the mean over a disc about the point that is at least so wide.
float sun_about(vec3 s, float side, float span_m, float radius_m) {
    bool within = span_m > 0.0 && all(greaterThan(s, vec3(0.0))) && all(lessThan(s, vec3(1.0)));
    int taps = within ? TAPS_ABOUT : 0;  // software GL leaves out a loop where it leaves out no branch
    float depth = nearer_than_casters(s, span_m), radius = max(penumbra(s, span_m), radius_m / span_m), shade = 0.0;
    mat2 turn = pixel_rotation();
    for (int i = 0; i < taps; i++) {
        vec2 at = clamp(s.xy + turn * DISC[i] * radius, shadow_texel.zz, 1.0 - shadow_texel.zz);
        shade += 1.0 - textureLod(vehicle_shadow_map, vec3(side + 0.5 * at.x, at.y, depth), 0.0);
    }
    return 1.0 - shade / float(TAPS_ABOUT);
}

float vehicle_sun_about(vec3 p, float radius_m) {
    vec3 s = (vehicle_shadow * vec4(p, 1.0)).xyz;
    vec3 still = vec3(s.xy * still_shadow.x, s.z) + still_shadow.yzw;
    float still_span_m = still_shadow.x > 0.0 ? shadow_texel.w / still_shadow.x : 0.0;
    return min(sun_about(s, 0.0, shadow_texel.w, radius_m), sun_about(still, 0.5, still_span_m, radius_m));
}

// The same where nothing stands about.
float casters_sun_about(vec3 p, float radius_m) {
    return sun_about((vehicle_shadow * vec4(p, 1.0)).xyz, 0.0, shadow_texel.w, radius_m);
}
