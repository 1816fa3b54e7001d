// A square around a splash or under a rotor, in the map of what moves on the water.
in vec2 corner;

out vec2 off;  // m from the middle

uniform vec4 window;  // xy centre of the map, z 1 / half its width
uniform vec3 ring;    // xy middle, z half width of the square

void main() {
    off = corner * ring.z;
    gl_Position = vec4((ring.xy + off - window.xy) * window.z, 0.0, 1.0);
}
