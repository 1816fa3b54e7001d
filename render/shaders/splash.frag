// A train of rings that runs outwards and grows longer, and the foam in its middle.
in vec2 off;
out vec4 mark;  // slope of the surface along world x and y, foam, air

uniform vec2 splash;  // age [s], speed [m/s]

void main() {
    float age = splash.x, r = length(off), force = smoothstep(0.2, 5.0, splash.y);
    float front = 0.7 + 1.7 * age, width = 0.8 + 0.32 * age;
    float k = 6.2832 / (1.0 + 0.14 * age);
    float packet = exp(-(r - front) * (r - front) / (width * width));
    float slope = (0.25 + 0.5 * force) * packet * cos(k * (r - 2.3 * age)) * exp(-age / 3.0);
    float reach = 1.4 + 1.3 * sqrt(age);
    float foam = force * exp(-r * r / (reach * reach)) * exp(-age / 2.2);
    mark = vec4(slope * off / max(r, 0.05), foam + 0.25 * force * packet * exp(-age / 0.8), foam);
}
