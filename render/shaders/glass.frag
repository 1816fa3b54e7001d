// Clear glass: only what it mirrors is seen of it.
#include "surface.glsl"

in vec3 p_w;
in vec3 n_w;
out vec4 colour;

void main() {
    vec3 v = normalize(eye.xyz - p_w);
    vec3 n = normalize(n_w);
    float fresnel = 0.04 + 0.7 * pow(1.0 - saturate(dot(n, v)), 5.0);
    vec3 r = reflect(-v, n);
    colour = vec4(environment(r, 0.02), fresnel);
}
