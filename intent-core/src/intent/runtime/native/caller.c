/* Known calls, in C: what intent/runtime/quick.py writes out in Python, for arrays that offer DLPack's exchange
 * table. A call that is not known here goes to the fallback; nothing is reported or decided here.
 *
 * Reading an array copies its DLPack description; every field of it is compared with the ones that were checked.
 */
#include "entry.h"

typedef struct {
    PyObject_HEAD
    PyObject *fallback, *negated, *capsule;
    Exchange *exchange;
    int parameters, pairs, entries, latest, next, types, align;
    char kinds[MOST_PARAMETERS];
    Range ranges[MOST_PARAMETERS];
    Pair pair[MOST_PARAMETERS * MOST_PARAMETERS];
    PyTypeObject *type[MOST_TYPES];
    Entry *entry[MOST_ENTRIES];
} Caller;

/* ---- reading one call: 1 read, 0 not for us (no exception set) ---- */

static int known_type(const Caller *self, PyTypeObject *type) {
    for (int k = 0; k < self->types; k++)
        if (self->type[k] == type) return 1;
    return 0;
}

/* Asked of all views before any is described: the library may run other threads meanwhile. */
static int plain(const Caller *self, PyObject *item) {
    if (!known_type(self, Py_TYPE(item))) return 0;
    if (self->negated == NULL) return 1;
    PyObject *negated = PyObject_CallOneArg(self->negated, item);
    if (negated == NULL) PyErr_Clear();
    Py_XDECREF(negated); /* the interpreter holds False */
    return negated == Py_False;
}

static int read_view(const Caller *self, PyObject *item, Tensor *tensor, Value *value) {
    memset(tensor, 0, sizeof *tensor);
    if (self->exchange->describe(item, tensor) != 0) {
        PyErr_Clear();
        return 0;
    }
    if (tensor->rank < 0 || (tensor->rank > 0 && (tensor->shape == NULL || tensor->strides == NULL))) return 0;
    value->address = (uint64_t)(uintptr_t)tensor->data + tensor->offset;
    return 1;
}

static int read_scalar(char kind, Range range, PyObject *item, Value *value) {
    int overflow = 0;
    switch (kind) {
    case 'f':
    case 'd':
        if (!PyFloat_CheckExact(item)) return 0;
        value->d = PyFloat_AS_DOUBLE(item);
        return kind == 'd' || !isinf((float)value->d) || isinf(value->d);
    case 'b':
        value->i = item == Py_True;
        return PyBool_Check(item);
    default: /* 'i' an integer, 'k' one of the key */
        if (!PyLong_CheckExact(item)) return 0;
        value->i = PyLong_AsLongLongAndOverflow(item, &overflow);
        return !overflow && value->i >= range.low && value->i <= range.high;
    }
}

static int read_call(const Caller *self, PyObject *args, Tensor *tensors, Value *values) {
    if (!PyTuple_CheckExact(args) || PyTuple_GET_SIZE(args) != self->parameters) return 0;
    for (int k = 0; k < self->parameters; k++)
        if (self->kinds[k] == 'v' && !plain(self, PyTuple_GET_ITEM(args, k))) return 0;
    for (int k = 0; k < self->parameters; k++) {
        PyObject *item = PyTuple_GET_ITEM(args, k);
        int read = self->kinds[k] == 'v' ? read_view(self, item, &tensors[k], &values[k])
                                         : read_scalar(self->kinds[k], self->ranges[k], item, &values[k]);
        if (!read) return 0;
    }
    return 1;
}

/* ---- comparing with an entry ---- */

static int matches(const Caller *self, const Entry *entry, const Tensor *tensors, const Value *values) {
    const int64_t *extents = entry->extents;
    for (int k = 0; k < self->parameters; k++) {
        if (self->kinds[k] == 'k' && entry->keys[k] != values[k].i) return 0;
        if (self->kinds[k] != 'v') continue;
        const Tensor *t = &tensors[k];
        size_t bytes = (size_t)t->rank * sizeof(int64_t);
        if (t->rank != entry->ranks[k] || memcmp(&t->type, &entry->types[k], sizeof(Type)) != 0 ||
            memcmp(&t->device, &entry->device, sizeof(Device)) != 0 ||
            (values[k].address & (uint64_t)(self->align - 1)) != entry->odd[k])
            return 0;
        if (bytes && (memcmp(t->shape, extents, bytes) != 0 || memcmp(t->strides, extents + t->rank, bytes) != 0))
            return 0;
        extents += 2 * t->rank;
    }
    return 1;
}

/* Whether no written view touches another one, but at distances that were checked. */
static int harmless(const Caller *self, const Entry *entry, const Value *values) {
    for (int n = 0; n < self->pairs; n++) {
        int i = self->pair[n].first, j = self->pair[n].second, seen = 0;
        int64_t a = values[i].i, b = values[j].i;
        if (a + entry->reach[i].low >= b + entry->reach[j].high || b + entry->reach[j].low >= a + entry->reach[i].high)
            continue;
        for (int k = 0; k < entry->near_count && !seen; k++)
            seen = entry->near_pair[k] == n && entry->near_distance[k] == a - b;
        if (!seen) return 0;
    }
    return 1;
}

static Entry *find(Caller *self, const Tensor *tensors, const Value *values) {
    for (int k = 0; k < self->entries; k++) {
        int place = k == 0 ? self->latest : (k <= self->latest ? k - 1 : k);
        if (matches(self, self->entry[place], tensors, values)) {
            self->latest = place;
            return self->entry[place];
        }
    }
    return NULL;
}

/* ---- a call ---- */

static PyObject *caller_call(Caller *self, PyObject *args) {
    Tensor tensors[MOST_PARAMETERS];
    Value values[MOST_PARAMETERS];
    void *context = NULL, *stream = NULL;
    Entry *entry = read_call(self, args, tensors, values) ? find(self, tensors, values) : NULL;
    if (entry != NULL && harmless(self, entry, values) && entry->current(&context) == 0 && context == entry->context) {
        if (self->exchange->stream(entry->device.kind, entry->device.number, &stream) != 0) {
            PyErr_Clear();
        } else {
            PyObject *result = NULL;
            Py_INCREF(entry);
            if (start(entry, stream, values) == 0) result = Py_NewRef(entry->result);
            Py_DECREF(entry);
            if (result != NULL) return result;
            /* A refused launch has run nothing: the fallback tries again and reports it. */
        }
    }
    return PyObject_CallOneArg(self->fallback, args);
}

/* ---- learning: a call that was checked, and how to start it ---- */

static int fill_checked(const Caller *self, Entry *entry, const Tensor *tensors, const Value *values, PyObject *reach,
                        PyObject *near) {
    Py_ssize_t total = 0;
    int view = 0, first = 1;
    for (int k = 0; k < self->parameters; k++)
        if (self->kinds[k] == 'v') total += 2 * (Py_ssize_t)tensors[k].rank;
    entry->extents = PyMem_Malloc((size_t)(total + 1) * sizeof(int64_t));
    if (entry->extents == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    int64_t *extents = entry->extents;
    for (int k = 0; k < self->parameters; k++) {
        if (self->kinds[k] == 'k') entry->keys[k] = values[k].i;
        if (self->kinds[k] != 'v') continue;
        const Tensor *t = &tensors[k];
        if (first) entry->device = t->device;
        first = 0;
        entry->types[k] = t->type;
        entry->ranks[k] = t->rank;
        entry->odd[k] = (uint8_t)(values[k].address & (uint64_t)(self->align - 1));
        for (int axis = 0; axis < t->rank; axis++) *extents++ = t->shape[axis];
        for (int axis = 0; axis < t->rank; axis++) *extents++ = t->strides[axis];
        PyObject *ends = PySequence_GetItem(reach, view++);
        long long low, high;
        int parsed = ends != NULL && PyArg_ParseTuple(ends, "LL", &low, &high);
        Py_XDECREF(ends);
        if (!parsed) return -1;
        entry->reach[k].low = low;
        entry->reach[k].high = high;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(near);
    for (Py_ssize_t k = 0; k < count && k < MOST_NEAR; k++) {
        long long distance;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(near, k), "iL", &entry->near_pair[k], &distance)) return -1;
        entry->near_distance[k] = distance;
        entry->near_count = (int)k + 1;
    }
    return 0;
}

static void keep(Caller *self, Entry *entry, const Tensor *tensors, const Value *values) {
    Entry *before = find(self, tensors, values);
    int place = before != NULL ? self->latest : self->entries < MOST_ENTRIES ? self->entries++ : self->next;
    if (before == NULL && place == self->next && self->entries == MOST_ENTRIES) {
        before = self->entry[place];
        self->next = (self->next + 1) % MOST_ENTRIES;
    }
    self->entry[place] = entry;
    self->latest = place;
    Py_XDECREF(before);
}

static PyObject *caller_learn(Caller *self, PyObject *arguments) {
    PyObject *args, *result, *reach, *near, *native, *owner;
    Tensor tensors[MOST_PARAMETERS];
    Value values[MOST_PARAMETERS];
    if (!PyArg_ParseTuple(arguments, "O!OO!O!O!O", &PyTuple_Type, &args, &result, &PyTuple_Type, &reach, &PyTuple_Type,
                          &near, &PyTuple_Type, &native, &owner))
        return NULL;
    for (int k = 0; k < self->parameters && k < PyTuple_GET_SIZE(args); k++) {
        PyTypeObject *type = Py_TYPE(PyTuple_GET_ITEM(args, k));
        if (self->kinds[k] != 'v' || known_type(self, type)) continue;
        if (self->types == MOST_TYPES) Py_RETURN_FALSE;
        self->type[self->types++] = (PyTypeObject *)Py_NewRef(type);
    }
    if (!read_call(self, args, tensors, values)) Py_RETURN_FALSE;
    Entry *entry = entry_new();
    if (entry == NULL) return NULL;
    if (fill_start(entry, native) || fill_checked(self, entry, tensors, values, reach, near)) {
        Py_DECREF(entry);
        return NULL;
    }
    entry->result = Py_NewRef(result);
    entry->owner = Py_NewRef(owner);
    keep(self, entry, tensors, values);
    Py_RETURN_TRUE;
}

/* ---- one call again and again, with the values that it had ---- */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *fallback, *capsule;
    Exchange *exchange;
    Entry *entry;
    Value values[MOST_PARAMETERS];
} Again;

static PyObject *again_call(PyObject *callable, PyObject *const *args, size_t count, PyObject *keywords) {
    Again *self = (Again *)callable;
    void *context = NULL, *stream = NULL;
    Entry *entry = self->entry;
    if (PyVectorcall_NARGS(count) != 0 || keywords != NULL) {
        PyErr_SetString(PyExc_TypeError, "a prepared call takes no arguments");
        return NULL;
    }
    (void)args;
    if (entry->current(&context) == 0 && context == entry->context) {
        if (self->exchange->stream(entry->device.kind, entry->device.number, &stream) != 0)
            PyErr_Clear();
        else if (start(entry, stream, self->values) == 0)
            Py_RETURN_NONE;
    }
    return PyObject_CallNoArgs(self->fallback);
}

static int again_init(Again *self, PyObject *arguments, PyObject *keywords) {
    PyObject *native, *owner, *values, *capsule, *fallback;
    int kind, number;
    if (keywords != NULL && PyDict_GET_SIZE(keywords) != 0) {
        PyErr_SetString(PyExc_TypeError, "no keywords");
        return -1;
    }
    if (!PyArg_ParseTuple(arguments, "O!OO!iiOO", &PyTuple_Type, &native, &owner, &PyTuple_Type, &values, &kind, &number,
                          &capsule, &fallback))
        return -1;
    Py_ssize_t count = PyTuple_GET_SIZE(values);
    if (self->entry != NULL || count > MOST_PARAMETERS) {
        PyErr_SetString(PyExc_ValueError, "made once, of not too many values");
        return -1;
    }
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject *item = PyTuple_GET_ITEM(values, k);
        if (PyFloat_Check(item)) self->values[k].d = PyFloat_AS_DOUBLE(item);
        else self->values[k].i = (int64_t)PyLong_AsUnsignedLongLongMask(item);
        if (PyErr_Occurred()) return -1;
    }
    self->exchange = exchange_of(capsule);
    if (self->exchange == NULL) return -1;
    self->entry = entry_new();
    if (self->entry == NULL || fill_start(self->entry, native)) return -1;
    self->entry->owner = Py_NewRef(owner);
    self->entry->device = (Device){kind, number};
    self->capsule = Py_NewRef(capsule);
    self->fallback = Py_NewRef(fallback);
    self->vectorcall = again_call;
    return 0;
}

static void again_free(Again *self) {
    Py_XDECREF(self->fallback);
    Py_XDECREF(self->capsule);
    Py_XDECREF(self->entry);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyTypeObject AgainType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "intent_caller.Again",
    .tp_doc = "Again(native, owner, values, device kind, device number, exchange, fallback)",
    .tp_basicsize = sizeof(Again),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)again_init,
    .tp_dealloc = (destructor)again_free,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Again, vectorcall),
};

/* ---- the caller itself ---- */

static int fill_caller(Caller *self, PyObject *kinds, PyObject *ranges, PyObject *pairs) {
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(kinds, &size);
    if (text == NULL) return -1;
    if (size > MOST_PARAMETERS || PyTuple_GET_SIZE(ranges) != size ||
        PyTuple_GET_SIZE(pairs) > MOST_PARAMETERS * MOST_PARAMETERS) {
        PyErr_SetString(PyExc_ValueError, "too many parameters");
        return -1;
    }
    self->parameters = (int)size;
    memcpy(self->kinds, text, (size_t)size);
    for (int k = 0; k < self->parameters; k++) {
        long long low, high;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(ranges, k), "LL", &low, &high)) return -1;
        self->ranges[k].low = low;
        self->ranges[k].high = high;
    }
    self->pairs = (int)PyTuple_GET_SIZE(pairs);
    for (int k = 0; k < self->pairs; k++) {
        Pair *pair = &self->pair[k];
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(pairs, k), "ii", &pair->first, &pair->second)) return -1;
        if (pair->first < 0 || pair->first >= size || pair->second < 0 || pair->second >= size) {
            PyErr_SetString(PyExc_ValueError, "a pair names no parameter");
            return -1;
        }
    }
    return 0;
}

static int caller_init(Caller *self, PyObject *arguments, PyObject *keywords) {
    PyObject *kinds, *ranges, *pairs, *capsule, *negated, *fallback;
    if (keywords != NULL && PyDict_GET_SIZE(keywords) != 0) {
        PyErr_SetString(PyExc_TypeError, "no keywords");
        return -1;
    }
    if (!PyArg_ParseTuple(arguments, "UO!O!iOOO", &kinds, &PyTuple_Type, &ranges, &PyTuple_Type, &pairs, &self->align,
                          &capsule, &negated, &fallback))
        return -1;
    if (self->fallback != NULL) {
        PyErr_SetString(PyExc_TypeError, "made once");
        return -1;
    }
    self->exchange = exchange_of(capsule);
    if (self->exchange == NULL) return -1;
    if (fill_caller(self, kinds, ranges, pairs)) return -1;
    self->capsule = Py_NewRef(capsule);
    self->negated = negated == Py_None ? NULL : Py_NewRef(negated);
    self->fallback = Py_NewRef(fallback);
    return 0;
}

static void caller_free(Caller *self) {
    Py_XDECREF(self->fallback);
    Py_XDECREF(self->negated);
    Py_XDECREF(self->capsule);
    for (int k = 0; k < self->types; k++) Py_DECREF(self->type[k]);
    for (int k = 0; k < self->entries; k++) Py_DECREF(self->entry[k]);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMethodDef caller_methods[] = {
    {"call", (PyCFunction)caller_call, METH_O, "call(args): launch a known call and give its result, else the fallback's."},
    {"learn", (PyCFunction)caller_learn, METH_VARARGS,
     "learn(args, result, reach, near, native, owner): remember a checked call; False when it cannot be."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject CallerType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "intent_caller.Caller",
    .tp_doc = "Caller(kinds, ranges, pairs, address class, exchange, negated, fallback)",
    .tp_basicsize = sizeof(Caller),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)caller_init,
    .tp_dealloc = (destructor)caller_free,
    .tp_methods = caller_methods,
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "intent_caller", .m_size = -1};

PyMODINIT_FUNC PyInit_intent_caller(void) {
    if (PyType_Ready(&EntryType) < 0 || PyType_Ready(&CallerType) < 0 || PyType_Ready(&AgainType) < 0) return NULL;
    PyObject *made = PyModule_Create(&module);
    if (made != NULL && (PyModule_AddObjectRef(made, "Caller", (PyObject *)&CallerType) < 0 ||
                         PyModule_AddObjectRef(made, "Again", (PyObject *)&AgainType) < 0))
        Py_CLEAR(made);
    return made;
}
