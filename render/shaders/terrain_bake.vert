// Evaluates the rock once at every vertex: what the light software path then only interpolates.
#define BAKE
#include "rock.glsl"
#include "shadow.glsl"

uniform bool shadow_by_vertex;

in vec3 position;
in vec3 normal;
in vec4 traits;

out vec3 baked_ambient;  // radiance without the sun
out vec3 baked_sun;      // radiance that the sun adds where it shines

out float baked_visibility;  // of the sun; 1 where nobody asks
out float baked_strata;      // height in the strata

float relief_at(vec3 p, vec3 n, Traits t) { return rock_relief(rock_grain(p, n, t)); }

void main() {
    vec3 n = normalize(normal);
    Traits t = Traits(traits.x, traits.y, traits.z);
    Grain grain = rock_grain(position, n, t);
    float relief = rock_relief(grain);

    vec3 side = normalize(cross(n, abs(n.z) < 0.9 ? vec3(0.0, 0.0, 1.0) : vec3(1.0, 0.0, 0.0)));
    vec3 other = cross(n, side);
    float step_m = 0.6 * spacing_m;
    float a = (relief_at(position + side * step_m, n, t) - relief) / step_m;
    float b = (relief_at(position + other * step_m, n, t) - relief) / step_m;
    vec3 shading_n = normalize(n - (a * side + b * other) * 0.75);

    vec3 albedo = rock_albedo(position, n, grain) / PI;
    baked_ambient = albedo * rock_ambient(shading_n, t, relief);
    baked_sun = albedo * sun_irradiance.rgb * saturate(dot(shading_n, sun_direction.xyz));
    baked_strata = grain.height;
    baked_visibility = shadow_by_vertex ? sun_around(position + n * 0.8, 3.0) : 1.0;
    gl_Position = vec4(0.0);
}
