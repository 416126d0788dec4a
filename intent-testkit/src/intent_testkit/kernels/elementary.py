"""Every elementary function of the language, grouped so that a failure names a small set."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def exponentials(
    x: I.In[I.f32, ("N",)],
    exp: I.Out[I.f32, ("N",)],
    exp2: I.Out[I.f32, ("N",)],
    sigmoid: I.Out[I.f32, ("N",)],
    tanh: I.Out[I.f32, ("N",)],
):
    v = x[...]
    exp[...] = I.exp(v)
    exp2[...] = I.exp2(v)
    sigmoid[...] = I.sigmoid(v)
    tanh[...] = I.tanh(v)


@intent.kernel
def logarithms(
    x: I.In[I.f32, ("N",)],
    log: I.Out[I.f32, ("N",)],
    log2: I.Out[I.f32, ("N",)],
    log1p: I.Out[I.f32, ("N",)],
):
    v = x[...]
    log[...] = I.log(v)
    log2[...] = I.log2(v)
    log1p[...] = I.log1p(v)


@intent.kernel
def trigonometry(
    x: I.In[I.f32, ("N",)], sin: I.Out[I.f32, ("N",)], cos: I.Out[I.f32, ("N",)], asin: I.Out[I.f32, ("N",)]
):
    v = x[...]
    sin[...] = I.sin(v)
    cos[...] = I.cos(v)
    asin[...] = I.asin(v / 8.0)


@intent.kernel
def roots(
    x: I.In[I.f32, ("N",)],
    sqrt: I.Out[I.f32, ("N",)],
    rsqrt: I.Out[I.f32, ("N",)],
    magnitude: I.Out[I.f32, ("N",)],
):
    v = x[...]
    sqrt[...] = I.sqrt(v)
    rsqrt[...] = I.rsqrt(v)
    magnitude[...] = I.abs(-v)


@intent.kernel
def error_functions(x: I.In[I.f32, ("N",)], erf: I.Out[I.f32, ("N",)], erfc: I.Out[I.f32, ("N",)]):
    v = x[...]
    erf[...] = I.erf(v)
    erfc[...] = I.erfc(v)


@intent.kernel
def special_functions(x: I.In[I.f32, ("N",)], lgamma: I.Out[I.f32, ("N",)], i0: I.Out[I.f32, ("N",)]):
    v = x[...]
    lgamma[...] = I.lgamma(v)
    i0[...] = I.i0(v)


@intent.kernel
def elementary_f64(
    x: I.In[I.f64, ("N",)],
    exp: I.Out[I.f64, ("N",)],
    log: I.Out[I.f64, ("N",)],
    sin: I.Out[I.f64, ("N",)],
    cos: I.Out[I.f64, ("N",)],
    sqrt: I.Out[I.f64, ("N",)],
    tanh: I.Out[I.f64, ("N",)],
    erf: I.Out[I.f64, ("N",)],
):
    v = x[...]
    exp[...] = I.exp(v)
    log[...] = I.log(v)
    sin[...] = I.sin(v)
    cos[...] = I.cos(v)
    sqrt[...] = I.sqrt(v)
    tanh[...] = I.tanh(v)
    erf[...] = I.erf(v)


@intent.kernel
def exp_f16(x: I.In[I.f16, ("N",)], y: I.Out[I.f16, ("N",)]):
    y[...] = I.exp(x[...])


@intent.kernel
def roundings(
    x: I.In[I.f32, ("N",)],
    floor: I.Out[I.f32, ("N",)],
    ceil: I.Out[I.f32, ("N",)],
    rounded: I.Out[I.f32, ("N",)],
    trunc: I.Out[I.f32, ("N",)],
):
    v = x[...]
    floor[...] = I.floor(v)
    ceil[...] = I.ceil(v)
    rounded[...] = I.round(v)
    trunc[...] = I.trunc(v)


@intent.kernel
def extremes(
    x: I.In[I.f32, ("N",)],
    y: I.In[I.f32, ("N",)],
    maximum: I.Out[I.f32, ("N",)],
    minimum: I.Out[I.f32, ("N",)],
    maximum_num: I.Out[I.f32, ("N",)],
    minimum_num: I.Out[I.f32, ("N",)],
    clamp: I.Out[I.f32, ("N",)],
):
    a = x[...]
    b = y[...]
    maximum[...] = I.maximum(a, b)
    minimum[...] = I.minimum(a, b)
    maximum_num[...] = I.maximum_num(a, b)
    minimum_num[...] = I.minimum_num(a, b)
    clamp[...] = I.clamp(a, -0.5, 0.75)


@intent.kernel
def binary_functions(
    x: I.In[I.f32, ("N",)],
    y: I.In[I.f32, ("N",)],
    fdiv: I.Out[I.f32, ("N",)],
    power: I.Out[I.f32, ("N",)],
    fma: I.Out[I.f32, ("N",)],
    added: I.Out[I.f32, ("N",)],
):
    a = x[...]
    b = y[...]
    fdiv[...] = I.fdiv(a, b)
    power[...] = I.pow(a, b)
    fma[...] = I.fma(a, b, a)
    added[...] = I.add(a, b)


@intent.kernel
def classify(x: I.In[I.f32, ("N",)], nan: I.Out[I.bool, ("N",)], infinite: I.Out[I.bool, ("N",)]):
    v = x[...]
    nan[...] = I.isnan(v)
    infinite[...] = I.isinf(v)


@intent.kernel
def approximate(
    x: I.In[I.f32, ("N",)],
    y: I.In[I.f32, ("N",)],
    exp2: I.Out[I.f32, ("N",)],
    fdiv: I.Out[I.f32, ("N",)],
    tanh: I.Out[I.f32, ("N",)],
):
    a = x[...]
    exp2[...] = I.exp2(a, approximate=True)
    fdiv[...] = I.fdiv(a, y[...], approximate=True)
    tanh[...] = I.tanh(a, approximate=True)
