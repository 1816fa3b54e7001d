/* Steps a co-simulation unit as another program would, without Python.
 *
 * stepper LIBRARY VERSION TOKEN STEP_S ROWS CONTROLS OUTPUTS: CONTROLS and OUTPUTS are value references, divided by
 * commas; an output of several numbers is REFERENCE:COUNT. Rows of controls are read from standard input; before each
 * step, and after the last one, a row of outputs is printed, to the last digit.
 *
 * A library for macOS is put in place by hand, and bound to the C library that is here: its machine code runs as it is,
 * while what macOS itself makes of the file is not tried. */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64

static void ended(const char *why, const char *what) {
    fprintf(stderr, "%s %s\n", why, what);
    exit(1);
}

#ifdef _WIN32
#include <windows.h>
static HMODULE library;
static void opened(const char *path) { library = LoadLibraryA(path); }
static void *named(const char *name) { return (void *)GetProcAddress(library, name); }
#else
#include <dlfcn.h>
#include <sys/mman.h>

static void *library;
static unsigned char *image; /* of a Mach-O file, where it was put */
static unsigned char *file;

struct segment { uint64_t address, size, offset, length; };
static struct segment segments[16];
static int segment_count;
static uint64_t low;
static uint32_t symbols[4], bound[2][2]; /* LC_SYMTAB; offset and size of eager and of lazy bindings */

struct pair { double sine, cosine; };
static struct pair sine_and_cosine(double x) { return (struct pair){sin(x), cos(x)}; }
static void zeroed(void *at, size_t size) { memset(at, 0, size); }
static void unused(void) { ended("dyld_stub_binder", "was called"); }

static void *of_system(const char *name) {
    if (!strcmp(name, "___sincos_stret")) return (void *)sine_and_cosine;
    if (!strcmp(name, "_bzero") || !strcmp(name, "___bzero")) return (void *)zeroed;
    if (!strcmp(name, "dyld_stub_binder")) return (void *)unused;
    void *found = dlsym(RTLD_DEFAULT, name + 1);
    if (!found) found = dlsym(dlopen("libm.so.6", RTLD_NOW), name + 1);
    if (!found) ended("libSystem is asked for", name);
    return found;
}

static uint64_t number(const unsigned char **at) {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        unsigned char byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return value;
    }
}

static void bind(const unsigned char *at, const unsigned char *end) {
    const char *name = "";
    uint64_t place = 0;
    while (at < end) {
        unsigned char code = *at & 0xf0, small = *at++ & 0x0f;
        switch (code) {
        case 0x00: case 0x10: case 0x30: case 0x50: break; /* done, which library, which kind */
        case 0x20: number(&at); break;
        case 0x40: name = (const char *)at; at += strlen(name) + 1; break;
        case 0x70: place = segments[small].address + number(&at); break;
        case 0x80: place += number(&at); break;
        case 0x90: *(void **)(image + place - low) = of_system(name); place += 8; break;
        default: ended("an unknown way of binding", name);
        }
    }
}

static void rebase(const unsigned char *at, const unsigned char *end) {
    uint64_t place = 0, count, gap;
    while (at < end) {
        unsigned char code = *at & 0xf0, small = *at++ & 0x0f;
        count = gap = 0;
        switch (code) {
        case 0x00: case 0x10: continue;
        case 0x20: place = segments[small].address + number(&at); continue;
        case 0x30: place += number(&at); continue;
        case 0x40: place += 8 * small; continue;
        case 0x50: count = small; break;
        case 0x60: count = number(&at); break;
        case 0x70: count = 1; gap = number(&at); break;
        case 0x80: count = number(&at); gap = number(&at); break;
        default: ended("an unknown way of moving", "");
        }
        for (; count; count--, place += 8 + gap) *(uint64_t *)(image + place - low) += (uint64_t)image - low;
    }
}

static void put_in_place(void) {
    uint32_t count, moved[2] = {0, 0};
    uint64_t high = 0;
    memcpy(&count, file + 16, 4);
    low = UINT64_MAX;
    for (unsigned char *command = file + 32; count--;) {
        uint32_t kind, size;
        memcpy(&kind, command, 4);
        memcpy(&size, command + 4, 4);
        if (kind == 0x19) { /* LC_SEGMENT_64 */
            struct segment *s = &segments[segment_count++];
            memcpy(s, command + 24, sizeof *s);
            if (s->address < low) low = s->address;
            if (s->address + s->size > high) high = s->address + s->size;
        }
        if (kind == 2) memcpy(symbols, command + 8, sizeof symbols);
        if ((kind & 0xff) == 0x22) { /* LC_DYLD_INFO */
            memcpy(moved, command + 8, sizeof moved);
            memcpy(bound[0], command + 16, sizeof bound[0]);
            memcpy(bound[1], command + 32, sizeof bound[1]);
        }
        command += size;
    }
    image = mmap(NULL, high - low, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (image == MAP_FAILED) ended("there is no room", "for it");
    for (struct segment *s = segments; s < segments + segment_count; s++)
        memcpy(image + s->address - low, file + s->offset, s->length);
    __builtin___clear_cache((char *)image, (char *)image + (high - low));
    rebase(file + moved[0], file + moved[0] + moved[1]);
    for (int k = 0; k < 2; k++) bind(file + bound[k][0], file + bound[k][0] + bound[k][1]);
}

static void opened(const char *path) {
    FILE *from = fopen(path, "rb");
    if (!from) ended("cannot be read:", path);
    fseek(from, 0, SEEK_END);
    long size = ftell(from);
    rewind(from);
    file = malloc(size);
    if (fread(file, 1, size, from) != (size_t)size) ended("cannot be read:", path);
    fclose(from);
    if (!memcmp(file, "\xcf\xfa\xed\xfe", 4)) put_in_place();
    else library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *named(const char *name) {
    if (!image) return dlsym(library, name);
    for (uint32_t k = 0; k < symbols[1]; k++) {
        unsigned char *entry = file + symbols[0] + 16 * k;
        uint32_t at;
        uint64_t value;
        memcpy(&at, entry, 4);
        memcpy(&value, entry + 8, 8);
        if ((entry[4] & 1) && !strcmp((char *)file + symbols[2] + at + 1, name)) return image + value - low;
    }
    return NULL;
}
#endif

static int newer;

static void *function(const char *name) {
    char full[80];
    snprintf(full, sizeof full, "fmi%d%s", newer ? 3 : 2, name);
    void *found = named(full);
    if (!found) ended("the library has no", full);
    return found;
}

static void done(const char *what, int status) {
    if (status) ended("refused:", what);
}

struct callbacks { void *logger, *allocate, *release, *finished, *environment; };
static void logged(void *e, const char *n, int s, const char *c, const char *m, ...) { (void)e, (void)n, (void)s, (void)c, (void)m; }
static const struct callbacks calls = {(void *)logged, (void *)calloc, (void *)free, NULL, NULL};

static void *instance;
static unsigned at[MOST];
static size_t sizes[MOST];

static int read_list(char *text) {
    int count = 0;
    if (strcmp(text, "-"))
        for (char *part = strtok(text, ","); part; part = strtok(NULL, ","), count++) {
            char *colon = strchr(part, ':');
            at[count] = (unsigned)strtoul(part, NULL, 10);
            sizes[count] = colon ? strtoul(colon + 1, NULL, 10) : 1;
        }
    return count;
}

static void told(const unsigned *which, const size_t *of_each, int count) {
    static double values[1024];
    for (int k = 0; k < count; k++) {
        size_t size = of_each[k];
        if (newer) done("get", ((int (*)(void *, const unsigned *, size_t, double *, size_t))function("GetFloat64"))(instance, which + k, 1, values, size));
        else done("get", ((int (*)(void *, const unsigned *, size_t, double *))function("GetReal"))(instance, which + k, 1, values));
        for (size_t j = 0; j < size; j++) printf("%.17g ", values[j]);
    }
    printf("\n");
}

static void given(const unsigned *which, int count) {
    double values[MOST];
    for (int k = 0; k < count; k++)
        if (scanf("%lf", &values[k]) != 1) ended("controls", "are missing");
    if (!count) return;
    if (newer) done("set", ((int (*)(void *, const unsigned *, size_t, const double *, size_t))function("SetFloat64"))(instance, which, count, values, count));
    else done("set", ((int (*)(void *, const unsigned *, size_t, const double *))function("SetReal"))(instance, which, count, values));
}

int main(int count, char **words) {
    if (count != 8) ended("usage:", "stepper LIBRARY VERSION TOKEN STEP_S ROWS CONTROLS OUTPUTS");
    newer = words[2][0] == '3';
    double h = atof(words[4]);
    int rows = atoi(words[5]);
    unsigned controls[MOST];
    int control_count = read_list(words[6]);
    memcpy(controls, at, sizeof at);
    int output_count = read_list(words[7]);
    opened(words[1]);
    for (int wrong = 1; wrong >= 0; wrong--) { /* another token first, which is refused */
        const char *token = wrong ? "{another}" : words[3];
        instance = newer
            ? ((void *(*)(const char *, const char *, const char *, _Bool, _Bool, _Bool, _Bool, const unsigned *, size_t, void *, void *, void *))
                   function("InstantiateCoSimulation"))("one", token, NULL, 0, 0, 0, 0, NULL, 0, NULL, NULL, NULL)
            : ((void *(*)(const char *, int, const char *, const char *, const struct callbacks *, int, int))
                   function("Instantiate"))("one", 1, token, "", &calls, 0, 0);
        if (wrong ? instance != NULL : instance == NULL) ended("instantiate", wrong ? "took a wrong token" : "refused");
    }
    if (newer) done("initialize", ((int (*)(void *, _Bool, double, double, _Bool, double))function("EnterInitializationMode"))(instance, 0, 0.0, 0.0, 0, 0.0));
    else {
        done("set up", ((int (*)(void *, int, double, double, int, double))function("SetupExperiment"))(instance, 0, 0.0, 0.0, 0, 0.0));
        done("initialize", ((int (*)(void *))function("EnterInitializationMode"))(instance));
    }
    done("begin", ((int (*)(void *))function("ExitInitializationMode"))(instance));
    for (int k = 0; k < rows; k++) {
        given(controls, control_count);
        told(at, sizes, output_count);
        _Bool flags[3];
        double last;
        if (newer) done("step", ((int (*)(void *, double, double, _Bool, _Bool *, _Bool *, _Bool *, double *))function("DoStep"))(instance, k * h, h, 1, &flags[0], &flags[1], &flags[2], &last));
        else done("step", ((int (*)(void *, double, double, int))function("DoStep"))(instance, k * h, h, 1));
    }
    told(at, sizes, output_count);
    done("end", ((int (*)(void *))function("Terminate"))(instance));
    ((void (*)(void *))function("FreeInstance"))(instance);
    return 0;
}
