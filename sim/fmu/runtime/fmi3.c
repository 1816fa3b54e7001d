/* The functions of FMI 3.0 for co-simulation. What the unit does not have is refused by the function itself. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

typedef struct model *instance;
typedef uint32_t reference;
typedef void (*log_message)(void *environment, int status, const char *category, const char *message);

struct owner {
    struct model *model;
    void *environment;
    log_message log;
    bool talkative;
};

static void told(void *given, int status, const char *text) {
    struct owner *owner = given;
    if (owner->log && (owner->talkative || status >= ERROR))
        owner->log(owner->environment, status, status >= ERROR ? "logStatusError" : "logAll", text);
}

EXPORTED const char *fmi3GetVersion(void) { return "3.0"; }

EXPORTED int fmi3SetDebugLogging(instance m, bool on, size_t n, const char *const categories[]) {
    (void)n, (void)categories;
    ((struct owner *)m->owner)->talkative = on;
    return OK;
}

EXPORTED instance fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible,
                                              bool logging, bool events, bool early, const reference required[],
                                              size_t n, void *environment, log_message log, void *update) {
    (void)name, (void)resources, (void)visible, (void)events, (void)early, (void)required, (void)n, (void)update;
    if (!token || strcmp(token, TOKEN)) {
        if (log) log(environment, ERROR, "logStatusError", "the instantiation token is that of another unit");
        return NULL;
    }
    struct owner *owner = calloc(1, sizeof *owner);
    if (!owner) return NULL;
    owner->environment = environment, owner->log = log, owner->talkative = logging;
    owner->model = model_made(owner, told);
    if (!owner->model) free(owner);
    return owner->model;
}

EXPORTED void fmi3FreeInstance(instance m) {
    if (!m) return;
    free(m->owner);
    model_freed(m);
}

EXPORTED int fmi3EnterInitializationMode(instance m, bool defined, double tolerance, double begin, bool ends,
                                         double end) {
    (void)defined, (void)tolerance, (void)ends, (void)end;
    if (m->now.phase != INSTANTIATED) return model_tell(m, ERROR, "initialization was entered before");
    m->now.begin_s = begin;
    m->now.phase = INITIALIZING;
    return OK;
}

EXPORTED int fmi3ExitInitializationMode(instance m) {
    if (m->now.phase != INITIALIZING) return model_tell(m, ERROR, "initialization was not entered");
    return model_begun(m);
}

EXPORTED int fmi3Terminate(instance m) {
    m->now.phase = TERMINATED;
    return OK;
}

EXPORTED int fmi3Reset(instance m) {
    model_reset(m);
    return OK;
}

EXPORTED int fmi3DoStep(instance m, double time, double step, bool no_going_back, bool *event, bool *ended, bool *early,
                        double *last) {
    (void)no_going_back;
    *event = *ended = *early = false;
    int status = model_step(m, time, step);
    *last = model_time(m);
    return status;
}

/* One call's variables one after the other; each may be several numbers. */
#define EACH(n, references, count, act)                                                                      \
    size_t at = 0;                                                                                           \
    for (size_t k = 0; k < n; k++) {                                                                         \
        if (references[k] >= VARIABLES) return model_tell(m, ERROR, "variable %u is unknown", references[k]); \
        const size_t from = VARIABLE_AT[references[k]], size = VARIABLE_SIZE[references[k]];                 \
        if (at + size > count) return model_tell(m, ERROR, "%zu values are too few", (size_t)count);          \
        act;                                                                                                 \
        at += size;                                                                                          \
    }

EXPORTED int fmi3GetFloat64(instance m, const reference references[], size_t n, double values[], size_t count) {
    EACH(n, references, count, model_get(m, from, size, values + at))
    return OK;
}

EXPORTED int fmi3SetFloat64(instance m, const reference references[], size_t n, const double values[], size_t count) {
    EACH(n, references, count, if (model_set(m, from, size, values + at)) return ERROR)
    return OK;
}

EXPORTED int fmi3GetDirectionalDerivative(instance m, const reference unknowns[], size_t n_unknowns,
                                          const reference knowns[], size_t n_knowns, const double seed[],
                                          size_t n_seed, double sensitivity[], size_t n_sensitivity) {
    double d[U_AT + CONTROLS] = {0}, dout[OUTPUTS];
    {
        EACH(n_knowns, knowns, n_seed,
             if (from < P_AT || from + size > OUT_AT || (from >= NODE_AT && from < U_AT)) return model_tell(
                 m, ERROR, "derivatives by variable %u: allowed: parameters and inputs", knowns[k]);
             memcpy(d + from, seed + at, size * sizeof *d))
    }
    if (model_directional(m, d + U_AT, d + P_AT, dout)) return ERROR;
    EACH(n_unknowns, unknowns, n_sensitivity,
         if (from < OUT_AT) return model_tell(m, ERROR, "derivatives of variable %u: allowed: outputs", unknowns[k]);
         memcpy(sensitivity + at, dout + from - OUT_AT, size * sizeof *dout))
    return OK;
}

EXPORTED int fmi3GetFMUState(instance m, void **kept) {
    if (!*kept) *kept = malloc(sizeof m->now);
    if (!*kept) return model_tell(m, ERROR, "no memory for a state");
    memcpy(*kept, &m->now, sizeof m->now);
    return OK;
}

EXPORTED int fmi3SetFMUState(instance m, void *kept) {
    memcpy(&m->now, kept, sizeof m->now);
    return OK;
}

EXPORTED int fmi3FreeFMUState(instance m, void **kept) {
    (void)m;
    free(*kept);
    *kept = NULL;
    return OK;
}

EXPORTED int fmi3SerializedFMUStateSize(instance m, void *kept, size_t *size) {
    (void)kept;
    *size = sizeof m->now;
    return OK;
}

EXPORTED int fmi3SerializeFMUState(instance m, void *kept, uint8_t bytes[], size_t size) {
    if (size < sizeof m->now) return model_tell(m, ERROR, "%zu bytes are too few for a state", size);
    memcpy(bytes, kept, sizeof m->now);
    return OK;
}

EXPORTED int fmi3DeserializeFMUState(instance m, const uint8_t bytes[], size_t size, void **kept) {
    if (size != sizeof m->now) return model_tell(m, ERROR, "%zu bytes are no state of this unit", size);
    if (!*kept) *kept = malloc(size);
    if (!*kept) return model_tell(m, ERROR, "no memory for a state");
    memcpy(*kept, bytes, size);
    return OK;
}

EXPORTED int fmi3EnterStepMode(instance m) {
    (void)m;
    return OK;
}

EXPORTED void *fmi3InstantiateModelExchange(void) { return NULL; }
EXPORTED void *fmi3InstantiateScheduledExecution(void) { return NULL; }

#define REFUSED(name) \
    EXPORTED int name(void) { return ERROR; }

REFUSED(fmi3EnterEventMode)
REFUSED(fmi3GetFloat32)
REFUSED(fmi3GetInt8)
REFUSED(fmi3GetUInt8)
REFUSED(fmi3GetInt16)
REFUSED(fmi3GetUInt16)
REFUSED(fmi3GetInt32)
REFUSED(fmi3GetUInt32)
REFUSED(fmi3GetInt64)
REFUSED(fmi3GetUInt64)
REFUSED(fmi3GetBoolean)
REFUSED(fmi3GetString)
REFUSED(fmi3GetBinary)
REFUSED(fmi3GetClock)
REFUSED(fmi3SetFloat32)
REFUSED(fmi3SetInt8)
REFUSED(fmi3SetUInt8)
REFUSED(fmi3SetInt16)
REFUSED(fmi3SetUInt16)
REFUSED(fmi3SetInt32)
REFUSED(fmi3SetUInt32)
REFUSED(fmi3SetInt64)
REFUSED(fmi3SetUInt64)
REFUSED(fmi3SetBoolean)
REFUSED(fmi3SetString)
REFUSED(fmi3SetBinary)
REFUSED(fmi3SetClock)
REFUSED(fmi3GetNumberOfVariableDependencies)
REFUSED(fmi3GetVariableDependencies)
REFUSED(fmi3GetAdjointDerivative)
REFUSED(fmi3EnterConfigurationMode)
REFUSED(fmi3ExitConfigurationMode)
REFUSED(fmi3GetIntervalDecimal)
REFUSED(fmi3GetIntervalFraction)
REFUSED(fmi3GetShiftDecimal)
REFUSED(fmi3GetShiftFraction)
REFUSED(fmi3SetIntervalDecimal)
REFUSED(fmi3SetIntervalFraction)
REFUSED(fmi3SetShiftDecimal)
REFUSED(fmi3SetShiftFraction)
REFUSED(fmi3EvaluateDiscreteStates)
REFUSED(fmi3UpdateDiscreteStates)
REFUSED(fmi3EnterContinuousTimeMode)
REFUSED(fmi3CompletedIntegratorStep)
REFUSED(fmi3SetTime)
REFUSED(fmi3SetContinuousStates)
REFUSED(fmi3GetContinuousStateDerivatives)
REFUSED(fmi3GetEventIndicators)
REFUSED(fmi3GetContinuousStates)
REFUSED(fmi3GetNominalsOfContinuousStates)
REFUSED(fmi3GetNumberOfEventIndicators)
REFUSED(fmi3GetNumberOfContinuousStates)
REFUSED(fmi3GetOutputDerivatives)
REFUSED(fmi3ActivateModelPartition)
