// What a thing on a level ground gets besides the sun: sky, light returned by the land, lamps of a tunnel.
const int ASPHALT = 0, SLABS = 1, WHITE = 2, YELLOW = 3, KERB = 4, CONE = 5, CONCRETE = 6, STEEL = 7, WOOD = 8,
          SOIL = 9, LAMP = 10, LINING = 11, FLOOR = 12, WALL = 13, ROOF = 14, PANE = 15, IRON = 16, MACHINE = 17,
          CRANE = 18;
const vec3 LAMPLIGHT = vec3(6.6, 5.5, 4.0);  // irradiance between the lamps of a tunnel
const vec3 GLOW = vec3(40.4, 33.2, 22.4);     // as which a lamp's own light counts where it looks down

vec3 prop_ambient(vec3 n, float open_sky, float lamps, bool paved) {
    vec3 bounce = land_light() * (0.09 + 0.30 * (1.0 - abs(n.z)) + 0.22 * saturate(-n.z));
    return sky_irradiance(n) * open_sky * (paved ? 0.9 : 0.85) + bounce * mix(0.22, 1.0, open_sky) + LAMPLIGHT * lamps;
}

// In a room: brightness of what windows and walls give there, in the tint of all of it.
vec3 room_ambient(float light) {
    vec3 all = sky_harmonics[0].rgb;
    return all * (light / max(dot(all, vec3(0.2126, 0.7152, 0.0722)), 1e-6));
}

// Under a roof lamps are always lit, under the sky from dusk on.
vec3 lamp_light(vec3 n, bool roofed) {
    float lit = roofed ? 1.0 : smoothstep(0.09, 0.02, sun_direction.z);
    return n.z < 0.5 ? GLOW * lit : vec3(0.0);
}
