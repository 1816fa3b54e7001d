/* The functions of FMI 2.0 for co-simulation. A value reference is a place in the flat array of values. */
#include <stdlib.h>
#include <string.h>

#include "model.h"

typedef struct model *instance;
typedef unsigned int reference;

struct callbacks {
    void (*logger)(void *environment, const char *name, int status, const char *category, const char *message, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, int);
    void *environment;
};

struct owner {
    struct callbacks calls;
    char *name;
    int talkative;
};

static void told(void *given, int status, const char *text) {
    struct owner *owner = given;
    if (owner->calls.logger && (owner->talkative || status >= ERROR))
        owner->calls.logger(owner->calls.environment, owner->name, status,
                            status >= ERROR ? "logStatusError" : "logAll", "%s", text);
}

EXPORTED const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORTED const char *fmi2GetVersion(void) { return "2.0"; }

EXPORTED int fmi2SetDebugLogging(instance m, int on, size_t n, const char *const categories[]) {
    (void)n, (void)categories;
    ((struct owner *)m->owner)->talkative = on;
    return OK;
}

static void disowned(struct owner *owner) {
    if (owner) free(owner->name);
    free(owner);
}

EXPORTED instance fmi2Instantiate(const char *name, int type, const char *token, const char *resources,
                                  const struct callbacks *calls, int visible, int logging) {
    (void)resources, (void)visible;
    if (type != 1 || !token || strcmp(token, TOKEN)) {
        if (calls && calls->logger)
            calls->logger(calls->environment, name ? name : "", ERROR, "logStatusError",
                          "this is a unit for co-simulation with another guid");
        return NULL;
    }
    struct owner *owner = calloc(1, sizeof *owner);
    if (!owner) return NULL;
    size_t length = strlen(name ? name : "") + 1;
    owner->name = malloc(length);
    struct model *m = owner->name ? model_made(owner, told) : NULL;
    if (!m) {
        disowned(owner);
        return NULL;
    }
    memcpy(owner->name, name ? name : "", length);
    if (calls) owner->calls = *calls;
    owner->talkative = logging;
    return m;
}

EXPORTED void fmi2FreeInstance(instance m) {
    if (!m) return;
    disowned(m->owner);
    model_freed(m);
}

EXPORTED int fmi2SetupExperiment(instance m, int defined, double tolerance, double begin, int ends, double end) {
    (void)defined, (void)tolerance, (void)ends, (void)end;
    m->now.begin_s = begin;
    return OK;
}

EXPORTED int fmi2EnterInitializationMode(instance m) {
    if (m->now.phase != INSTANTIATED) return model_tell(m, ERROR, "initialization was entered before");
    m->now.phase = INITIALIZING;
    return OK;
}

EXPORTED int fmi2ExitInitializationMode(instance m) {
    if (m->now.phase != INITIALIZING) return model_tell(m, ERROR, "initialization was not entered");
    return model_begun(m);
}

EXPORTED int fmi2Terminate(instance m) {
    m->now.phase = TERMINATED;
    return OK;
}

EXPORTED int fmi2Reset(instance m) {
    model_reset(m);
    return OK;
}

EXPORTED int fmi2DoStep(instance m, double time, double step, int no_going_back) {
    (void)no_going_back;
    return model_step(m, time, step);
}

EXPORTED int fmi2GetReal(instance m, const reference references[], size_t n, double values[]) {
    for (size_t k = 0; k < n; k++) {
        if (references[k] >= VALUES) return model_tell(m, ERROR, "variable %u is unknown", references[k]);
        model_get(m, references[k], 1, values + k);
    }
    return OK;
}

EXPORTED int fmi2SetReal(instance m, const reference references[], size_t n, const double values[]) {
    for (size_t k = 0; k < n; k++) {
        if (references[k] >= VALUES) return model_tell(m, ERROR, "variable %u is unknown", references[k]);
        if (model_set(m, references[k], 1, values + k)) return ERROR;
    }
    return OK;
}

EXPORTED int fmi2GetDirectionalDerivative(instance m, const reference unknowns[], size_t n_unknowns,
                                          const reference knowns[], size_t n_knowns, const double seed[],
                                          double sensitivity[]) {
    double d[U_AT + CONTROLS] = {0}, dout[OUTPUTS];
    for (size_t k = 0; k < n_knowns; k++) {
        if (knowns[k] < P_AT || knowns[k] >= OUT_AT || (knowns[k] >= NODE_AT && knowns[k] < U_AT))
            return model_tell(m, ERROR, "derivatives by variable %u: allowed: parameters and inputs", knowns[k]);
        d[knowns[k]] = seed[k];
    }
    if (model_directional(m, d + U_AT, d + P_AT, dout)) return ERROR;
    for (size_t k = 0; k < n_unknowns; k++) {
        if (unknowns[k] < OUT_AT || unknowns[k] >= VALUES)
            return model_tell(m, ERROR, "derivatives of variable %u: allowed: outputs", unknowns[k]);
        sensitivity[k] = dout[unknowns[k] - OUT_AT];
    }
    return OK;
}

EXPORTED int fmi2GetFMUstate(instance m, void **kept) {
    if (!*kept) *kept = malloc(sizeof m->now);
    if (!*kept) return model_tell(m, ERROR, "no memory for a state");
    memcpy(*kept, &m->now, sizeof m->now);
    return OK;
}

EXPORTED int fmi2SetFMUstate(instance m, void *kept) {
    memcpy(&m->now, kept, sizeof m->now);
    return OK;
}

EXPORTED int fmi2FreeFMUstate(instance m, void **kept) {
    (void)m;
    free(*kept);
    *kept = NULL;
    return OK;
}

EXPORTED int fmi2SerializedFMUstateSize(instance m, void *kept, size_t *size) {
    (void)kept;
    *size = sizeof m->now;
    return OK;
}

EXPORTED int fmi2SerializeFMUstate(instance m, void *kept, char bytes[], size_t size) {
    if (size < sizeof m->now) return model_tell(m, ERROR, "%zu bytes are too few for a state", size);
    memcpy(bytes, kept, sizeof m->now);
    return OK;
}

EXPORTED int fmi2DeSerializeFMUstate(instance m, const char bytes[], size_t size, void **kept) {
    if (size != sizeof m->now) return model_tell(m, ERROR, "%zu bytes are no state of this unit", size);
    if (!*kept) *kept = malloc(size);
    if (!*kept) return model_tell(m, ERROR, "no memory for a state");
    memcpy(*kept, bytes, size);
    return OK;
}

#define REFUSED(name) \
    EXPORTED int name(void) { return ERROR; }

REFUSED(fmi2GetInteger)
REFUSED(fmi2GetBoolean)
REFUSED(fmi2GetString)
REFUSED(fmi2SetInteger)
REFUSED(fmi2SetBoolean)
REFUSED(fmi2SetString)
REFUSED(fmi2SetRealInputDerivatives)
REFUSED(fmi2GetRealOutputDerivatives)
REFUSED(fmi2CancelStep)
REFUSED(fmi2GetStatus)
REFUSED(fmi2GetRealStatus)
REFUSED(fmi2GetIntegerStatus)
REFUSED(fmi2GetBooleanStatus)
REFUSED(fmi2GetStringStatus)
