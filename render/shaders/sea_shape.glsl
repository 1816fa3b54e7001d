// How far waves carry a point of the sea.
#include "sea.glsl"

uniform sampler2D sea_shape_0, sea_shape_1, sea_shape_2;

vec3 carried_by(sampler2D shape, vec2 place, float edge, float cell) {
    return textureLod(shape, tile_uv(place, edge), tile_level(cell, edge)).xyz;
}

// Of a point at rest there, by those waves that cells so wide can carry.
vec3 displacement(vec2 place, float cell) {
    return carried_by(sea_shape_0, place, sea_edges.x, cell) + carried_by(sea_shape_1, place, sea_edges.y, cell)
        + carried_by(sea_shape_2, place, sea_edges.z, cell);
}
