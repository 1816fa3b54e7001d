// Camera, light, haze and shadow frames of the pass (render/passes/uniforms.py). Everything is linear and in world metres.
layout(std140) uniform Frame {
    mat4 clip_from_world;
    mat4 world_from_clip;
    mat4 sun_shadow;       // world to texture coordinates and depth, 0..1
    mat4 vehicle_shadow;
    vec4 eye;              // xyz world, w wall time in s
    vec4 sun_direction;    // xyz towards the sun, w share of the sky that is under clouds
    vec4 sun_irradiance;   // rgb on a surface that faces the sun
    vec4 haze;             // x density, y falloff per m, z height of its foot, w bias of the level of textures
    vec4 viewport;         // xy size in px, zw 1 / size
    vec4 clip_plane;       // drawn where dot(xyz, p) + w >= 0
    vec4 shadow_texel;     // xy of the sun map, z of the vehicle map, w span of the vehicle map in m
    vec4 water;            // x level of the river, y depth bias of the sun map, z depth range of the vehicle map in m,
                           // w depth of the eye in the sea in m, 0 above it
    vec4 still_shadow;     // from the vehicle map to the still map beside it: x factor of xy, 0 without, yzw added
    vec4 room;             // xy half extents, z height of the room that all is in, w 1 in one
    vec4 orbit;            // x height of z = 0 over the planet's sea, y elevation of its edge in rad, z 1 in orbit, else 0, w rain 0..1
    vec4 sky_harmonics[9];
};

const float PI = 3.14159265;

float saturate(float x) { return clamp(x, 0.0, 1.0); }
vec3 saturate(vec3 x) { return clamp(x, 0.0, 1.0); }

#if FULL_MATERIALS
bool clipped(vec3 p) { return dot(clip_plane.xyz, p) + clip_plane.w < 0.0; }
#else  // nothing is drawn into a mirror, and software GL is swifter where depth is known before the shader
bool clipped(vec3 p) { return false; }
#endif
