// How much of the sun still things leave to each place of a level ground: what software GL then only looks up.
#include "shadow.glsl"

in vec2 uv;
out vec4 share;

uniform vec4 level_place;  // low corner and extent

void main() {
    share = vec4(sun_around(vec3(level_place.xy + uv * level_place.zw, PROP_LIFT_M), 1.5));
}
