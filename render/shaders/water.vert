// The river's surface in channel coordinates.
#include "sky.glsl"

in vec2 place;
in float depth;
in float lateral;
in float slope;

out vec3 p_w;
out vec2 channel;  // across and along the flow in m
out vec2 flow;     // unit direction in the world
out float depth_m;
out vec3 transmittance;
out vec3 inscatter;

void main() {
    p_w = vec3(place, water.x);
    channel = vec2(lateral, place.x);
    flow = normalize(vec2(1.0, slope));
    depth_m = depth;
    haze_to(p_w, transmittance, inscatter);
    gl_Position = clip_from_world * vec4(p_w, 1.0);
}
