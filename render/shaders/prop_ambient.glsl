// What a thing on a level ground gets besides the sun: sky, light returned by the land, lamps of a tunnel.
const int ASPHALT = 0, SLABS = 1, WHITE = 2, YELLOW = 3, KERB = 4, CONE = 5, CONCRETE = 6, STEEL = 7, WOOD = 8,
          SOIL = 9, LAMP = 10, LINING = 11;
const vec3 LAMPLIGHT = vec3(6.6, 5.5, 4.0);  // irradiance between the lamps of a tunnel

vec3 prop_ambient(vec3 n, float open_sky, float lamps, bool paved) {
    vec3 bounce = sun_irradiance.rgb * ROCK_BOUNCE * (0.09 + 0.30 * (1.0 - abs(n.z)) + 0.22 * saturate(-n.z));
    return sky_irradiance(n) * open_sky * (paved ? 0.9 : 0.85) + bounce * mix(0.22, 1.0, open_sky) + LAMPLIGHT * lamps;
}
