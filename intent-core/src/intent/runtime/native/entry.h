/* An entry: how to start one settled launch, and what a call must be like to use it. Also DLPack's structures. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MOST_PARAMETERS = 32, MOST_ARGUMENTS = 128, MOST_BYTES = 1024, MOST_ENTRIES = 128, MOST_TYPES = 4, MOST_NEAR = 16,
       CONFIG_BYTES = 64 };

/* DLPack 1.x, as its specification lays it out. */
typedef struct { int32_t kind, number; } Device;
typedef struct { uint8_t code, bits; uint16_t lanes; } Type;
typedef struct {
    void *data; Device device; int32_t rank; Type type; int64_t *shape, *strides; uint64_t offset;
} Tensor;
typedef struct Header { struct { uint32_t major, minor; } version; struct Header *previous; } Header;
typedef struct {
    Header header;
    void *allocate, *export_owned, *import_owned;
    int (*describe)(void *, Tensor *);
    int (*stream)(int, int32_t, void **);
} Exchange;

typedef union { int64_t i; double d; uint64_t address; } Value;
typedef int (*Launch)(const void *, void *, void **, void **);
typedef int (*Current)(void **);

typedef struct { int64_t low, high; } Range;
typedef struct { int first, second; } Pair;
typedef struct { int source, offset; char code; } Change;

typedef struct {
    PyObject_HEAD
    PyObject *result, *owner;
    Type types[MOST_PARAMETERS];
    Device device;
    int32_t ranks[MOST_PARAMETERS];
    uint8_t odd[MOST_PARAMETERS];
    int64_t *extents; /* of each view its shape, then its strides */
    int64_t keys[MOST_PARAMETERS];
    Range reach[MOST_PARAMETERS];
    int near_count, near_pair[MOST_NEAR];
    int64_t near_distance[MOST_NEAR];
    Launch launch;
    Current current;
    void *context, *function;
    int stream_at, bytes, arguments, changes;
    unsigned char config[CONFIG_BYTES];
    unsigned char image[MOST_BYTES];
    int places[MOST_ARGUMENTS];
    Change change[MOST_PARAMETERS];
} Entry;

static Exchange *exchange_of(PyObject *capsule) {
    Header *header = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    if (header == NULL) return NULL;
    while (header != NULL && header->version.major != 1) header = header->previous;
    Exchange *exchange = (Exchange *)header;
    if (exchange == NULL || exchange->describe == NULL || exchange->stream == NULL) {
        PyErr_SetString(PyExc_ValueError, "no exchange table of DLPack 1 that describes arrays");
        return NULL;
    }
    return exchange;
}

/* ---- entries ---- */

static void entry_free(Entry *self) {
    Py_XDECREF(self->result);
    Py_XDECREF(self->owner);
    PyMem_Free(self->extents);
    PyObject_Free(self);
}

static PyTypeObject EntryType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "intent_caller.Entry",
    .tp_basicsize = sizeof(Entry),
    .tp_dealloc = (destructor)entry_free,
    .tp_flags = Py_TPFLAGS_DEFAULT,
};

static Entry *entry_new(void) {
    Entry *entry = PyObject_New(Entry, &EntryType);
    if (entry != NULL) memset((char *)entry + offsetof(Entry, result), 0, sizeof(Entry) - offsetof(Entry, result));
    return entry;
}

/* ---- launching ---- */

static void put(unsigned char *at, char code, Value value) {
    float f;
    int8_t i8; int16_t i16; int32_t i32;
    switch (code) {
    case 'f': f = (float)value.d; memcpy(at, &f, sizeof f); break;
    case 'b': case 'B': case '?': i8 = (int8_t)value.i; memcpy(at, &i8, sizeof i8); break;
    case 'h': case 'H': i16 = (int16_t)value.i; memcpy(at, &i16, sizeof i16); break;
    case 'i': case 'I': i32 = (int32_t)value.i; memcpy(at, &i32, sizeof i32); break;
    default: memcpy(at, &value, sizeof value); break; /* d, q, Q */
    }
}

static int start(const Entry *entry, void *stream, const Value *values) {
    _Alignas(16) unsigned char config[CONFIG_BYTES];
    _Alignas(16) unsigned char image[MOST_BYTES];
    void *arguments[MOST_ARGUMENTS];
    int status;
    memcpy(config, entry->config, sizeof config);
    memcpy(config + entry->stream_at, &stream, sizeof stream);
    memcpy(image, entry->image, (size_t)entry->bytes);
    for (int k = 0; k < entry->changes; k++)
        put(image + entry->change[k].offset, entry->change[k].code, values[entry->change[k].source]);
    for (int k = 0; k < entry->arguments; k++) arguments[k] = image + entry->places[k];
    Py_BEGIN_ALLOW_THREADS
    status = entry->launch(config, entry->function, arguments, NULL);
    Py_END_ALLOW_THREADS
    return status;
}

/* ---- filling an entry from Python's description of a start ---- */

static int copy_bytes(PyObject *bytes, unsigned char *to, Py_ssize_t most, int *size) {
    if (!PyBytes_Check(bytes) || PyBytes_GET_SIZE(bytes) > most) {
        PyErr_SetString(PyExc_ValueError, "too many bytes of arguments");
        return -1;
    }
    memcpy(to, PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes));
    if (size != NULL) *size = (int)PyBytes_GET_SIZE(bytes);
    return 0;
}

static int fill_start(Entry *entry, PyObject *native) {
    PyObject *config, *image, *places, *changes;
    unsigned long long launch, current, context, function;
    if (!PyArg_ParseTuple(native, "KKKKOiOO!O!", &launch, &current, &context, &function, &config, &entry->stream_at,
                          &image, &PyTuple_Type, &places, &PyTuple_Type, &changes))
        return -1;
    if (copy_bytes(config, entry->config, CONFIG_BYTES, NULL) || copy_bytes(image, entry->image, MOST_BYTES, &entry->bytes))
        return -1;
    entry->arguments = (int)PyTuple_GET_SIZE(places);
    entry->changes = (int)PyTuple_GET_SIZE(changes);
    if (entry->arguments > MOST_ARGUMENTS || entry->changes > MOST_PARAMETERS || entry->stream_at < 0 ||
        entry->stream_at + (int)sizeof(void *) > CONFIG_BYTES) {
        PyErr_SetString(PyExc_ValueError, "too many arguments");
        return -1;
    }
    for (int k = 0; k < entry->arguments; k++) {
        entry->places[k] = (int)PyLong_AsLong(PyTuple_GET_ITEM(places, k));
        if (PyErr_Occurred()) return -1;
        if (entry->places[k] < 0 || entry->places[k] >= entry->bytes) {
            PyErr_SetString(PyExc_ValueError, "an argument lies outside the image");
            return -1;
        }
    }
    for (int k = 0; k < entry->changes; k++) {
        int code;
        Change *change = &entry->change[k];
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(changes, k), "iiC", &change->source, &change->offset, &code)) return -1;
        change->code = (char)code;
        if (change->offset < 0 || change->offset + 8 > MOST_BYTES || change->source < 0 ||
            change->source >= MOST_PARAMETERS) {
            PyErr_SetString(PyExc_ValueError, "a changing argument lies outside the image");
            return -1;
        }
    }
    entry->launch = (Launch)(uintptr_t)launch;
    entry->current = (Current)(uintptr_t)current;
    entry->context = (void *)(uintptr_t)context;
    entry->function = (void *)(uintptr_t)function;
    return 0;
}
