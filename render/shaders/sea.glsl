// Where the rings of the sea lie (render/water/sea_grid.py), and how its tiles are read.
uniform vec4 sea_wedge;   // x near m, y far m, z first bearing, w span
uniform vec2 sea_cells;   // rings, columns
uniform vec3 sea_edges;   // of the tiles, m
uniform float sea_points; // of a tile along its edge
uniform float sea_level;  // of the mean surface, m
uniform vec4 sea_bounds;  // middle and half extents of where there is water

const float EARTH_M = 6.36e6;

// Distance of a ring from the point under the eye, ring 0..1, and the width of a cell there.
vec2 ring(float at) {
    float last = pow(sea_wedge.x / sea_wedge.y, 1.0 / 3.0);
    float root = mix(1.0, last, at);
    float distance_m = sea_wedge.x / (root * root * root);
    float along = 3.0 * distance_m / root * (1.0 - last) / sea_cells.x;
    return vec2(at > 0.0 ? distance_m : 0.0, max(along, distance_m * sea_wedge.w / sea_cells.y));
}

vec2 tile_uv(vec2 rest, float edge) { return rest / edge + 0.5 / sea_points; }

// The level of a tile whose texels are so wide.
float tile_level(float width_m, float edge) { return max(log2(width_m * sea_points / edge), 0.0); }

uniform vec4 sea_look;    // x deviation of the height, y mean square of the slopes that no tile has, z share of foam, w time s
uniform vec2 foam_span;   // of the map [m], and half a texel of it

// Of whitecaps: their own map about the eye, and as much as there is of them farther off.
float foam_of_caps(sampler2D map, vec2 rest) {
    float about = length((rest - eye.xy) / (0.5 * foam_span.x));
    float caps = textureLod(map, rest / foam_span.x + foam_span.y, 0.0).r;
    return mix(caps, min(2.5 * sea_look.z, 0.5), smoothstep(0.75, 0.98, about));
}

const int MOST_HULLS = 2;

uniform sampler2D box_map;  // of splashing water: world z, slopes, foam
uniform vec4 box_place;     // where it begins, 1 / its edges, m; zero where there is none

// Share of the splashing water at a place: all of it within, none at the border.
float in_box(vec2 place, out vec2 uv) {
    uv = (place - box_place.xy) * box_place.zw;
    vec2 to_border = 0.5 - abs(uv - 0.5);
    return box_place.z > 0.0 ? smoothstep(0.02, 0.15, min(to_border.x, to_border.y)) : 0.0;
}

bool beyond_bounds(vec2 place) {
    vec2 off = abs(place - sea_bounds.xy) - sea_bounds.zw;
    return max(off.x, off.y) > 0.0;
}
