// Where hulls are: no water is drawn inside them.
in vec3 hull_at[MOST_HULLS];

uniform sampler2D hull_map;
uniform int hulls;
uniform vec4 hull_box;  // least x and z, length and height

// Half breadth of the nearest hull less the distance from its middle plane, at its height: positive inside.
float within_hull() {
    float most = -1e3;
    for (int k = 0; k < hulls; k++) {
        vec2 uv = (hull_at[k].xz - hull_box.xy) / hull_box.zw;
        vec2 beyond = max(abs(uv - 0.5) - 0.5, 0.0) * hull_box.zw;
        float breadth = textureLod(hull_map, uv, 0.0).r - abs(hull_at[k].y);
        most = max(most, beyond.x + beyond.y > 0.0 ? min(breadth, 0.0) - beyond.x - beyond.y : breadth);
    }
    return most;
}
