"""The HTML page: well-formed, self-contained, escaped, and about the same program."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

import intent
import intent.language as I
from intent.diagnostics import CapabilityError
from intent.explain.page import _json
from intent.explain.page.markup import Html, tag
from intent.kir.parse import parse_kernel
from intent.provider.registry import registry

VOID = {"meta", "br", "hr", "input", "img", "link"}


class Page(HTMLParser):
    """Every tag with its attributes, the text per tag, and what is not closed."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.texts, self.faults = [], [], {}, []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if len(dict(attrs)) != len(attrs):
            self.faults.append(("attribute twice", tag, attrs))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(("not open", tag, self.getpos()))

    def handle_data(self, data):
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)

    def attributes(self, name):
        return [attributes[name] for _, attributes in self.tags if name in attributes]

    def classes(self, name):
        return [a for _, a in self.tags if name in (a.get("class") or "").split()]


@intent.kernel
def three(
    a: I.In[I.f32, ("M", "N")],
    b: I.In[I.f32, ("K",)],
    y: I.Out[I.f32, ("M",)],
    z: I.Out[I.f32, ("K",)],
    t: I.Out[I.f32, ()],
):
    y[...] = I.reduce.sum(a[...], axis=1)
    z[...] = b[...] * b[...]
    t[...] = I.reduce.sum(b[...], axis=0)


@intent.kernel
def deep(x: I.In[I.f32, ("B", "G", "C", "L")], y: I.Out[I.f32, ("B", "G", "C", "L")]):
    y[...] = x[...] - I.reduce.max(x[...], axis=3)[..., None]


@intent.kernel
def ragged(x: I.In[I.f32, ("N",)], offsets: I.In[I.i32, ("P",)], y: I.InOut[I.f32, ("N",)], G: I.i32):
    axis = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, G)):
        part = axis[I.cast(offsets[g], I.index) : I.cast(offsets[g + 1], I.index)]
        y[part] = I.exp(x[part]) / I.reduce.sum(I.exp(x[part]), axis=0)


@intent.kernel
def buffered(x: I.InOut[I.i32, ("M", "N")], n: I.InOut[I.i32, (4,)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        row = I.buffer((4,), I.i32, init=0)
        for j in range(x.shape[1]):
            row[x[i, j] % 4] = row[x[i, j] % 4] + 1
            I.atomic.add(n[x[i, j] % 4], 1)
        for j in range(x.shape[1]):
            x[i, j] = row[x[i, j] % 4]


CASES = [
    (three, None),
    (three, {"M": 33, "N": 70, "K": 5000}),
    (three, {"M": 0, "N": 0, "K": 0}),
    (deep, {"B": 2, "G": 3, "C": 4, "L": 50}),
    (ragged, None),
    (buffered, {"M": 5, "N": 6}),
]


@pytest.mark.parametrize(("kernel", "extents"), CASES)
def test_a_page_is_well_formed_and_needs_nothing_else(explained, kernel, extents):
    artifact, report = explained(kernel, extents)
    text = artifact.explain(format="html", extents=extents)
    page = Page(text)
    assert not page.faults
    assert not page.open
    assert text.startswith("<!DOCTYPE html>")
    ids = page.attributes("id")
    assert len(set(ids)) == len(ids)
    assert not page.attributes("src")
    assert all(link.removeprefix("#") in ids for link in page.attributes("href"))
    assert not re.search(r"https?:|@import|url\((?!#hatch-)", text)
    assert page.texts["title"][0] == f"{report.kernel} explained"
    assert len([t for t, _ in page.tags if t == "script"]) == 2


@pytest.mark.parametrize(("kernel", "extents"), CASES)
def test_what_is_linked_exists(explained, kernel, extents):
    artifact, report = explained(kernel, extents)
    page = Page(artifact.explain(format="html", extents=extents))
    known = {str(line.key) for line in report.lines}
    linked = {key for keys in page.attributes("data-k") for key in keys.split()}
    assert linked <= known
    used = {str(line.key) for line in report.lines if line.used}
    assert {key for a in page.classes("line") for key in (a.get("data-k") or "").split()} == used


@pytest.mark.parametrize(("kernel", "extents"), CASES)
def test_the_picture_shows_the_programs_and_what_they_touch(explained, kernel, extents):
    artifact, report = explained(kernel, extents)
    page = Page(artifact.explain(format="html", extents=extents))
    scenes = json.loads(next(t for t in page.texts["script"] if t.startswith("{")))
    assert len(page.classes("cell")) == sum(len(s.samples) for s in report.picture.scenes)
    assert len(page.classes("chosen")) == sum(bool(s.samples) for s in report.picture.scenes)
    boxes = {a["data-scene"]: [float(v) for v in a["viewbox"].split()] for a in page.classes("scene")}
    for scene in report.picture.scenes:
        drawn = scenes[str(scene.group)]
        if not scene.samples:
            assert str(scene.group) not in boxes
            continue
        _, _, width, height = boxes[str(scene.group)]
        assert len(drawn["samples"]) == len(drawn["captions"]) == len(scene.samples)
        for sample in drawn["samples"]:
            for x, y, w, h in (box for part in sample for box in part if box is not None):
                assert -0.1 <= x <= x + w <= width + 0.1
                assert -0.1 <= y <= y + h <= height + 0.1
        touched = {a.resource for s in report.segments if s.group == scene.group for a in s.accesses}
        assert {t.name for t in scene.tensors} == touched
        assert all(any(a.get("data-resource") == name for a in page.classes("glyph")) for name in touched)


def test_boxes_stand_where_the_elements_are(explained):
    extents = {"B": 2, "G": 3, "C": 4, "L": 50}
    artifact, report = explained(deep, extents)
    page = Page(artifact.explain(format="html", extents=extents))
    drawn = json.loads(next(t for t in page.texts["script"] if t.startswith("{")))["0"]
    written = drawn["verbs"].index("write")
    (access,) = [a.id for a in report.segments[0].accesses if a.verb == "write"]
    body, layers = rectangles(page, "y")
    for sample, boxes in zip(report.picture.scenes[0].samples, drawn["samples"], strict=True):
        b, g, c, n = next(f.swept for f in sample.footprints if f.access == access)
        swept, _, _, layer = boxes[written]
        for (x, y, w, h), rows, columns, (left, top, width, height) in (
            (swept, (c, 4), (n, 50), body),
            (layer, (b, 2), (g, 3), layers),
        ):
            assert x == pytest.approx(left + width * columns[0].low / columns[1], abs=0.2)
            assert x + w == pytest.approx(left + width * (columns[0].high + 1) / columns[1], abs=0.2)
            assert y == pytest.approx(top + height * rows[0].low / rows[1], abs=0.2)
            assert y + h == pytest.approx(top + height * (rows[0].high + 1) / rows[1], abs=0.2)
    assert len({tuple(boxes[written][3]) for boxes in drawn["samples"]}) == len(
        {s.blocks[:2] for s in report.picture.scenes[0].samples}
    )


@intent.kernel
def scaled(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = x[...] * 2.0


def test_blocks_are_as_large_as_their_share(explained):
    artifact, report = explained(scaled, {"M": 60, "N": 3000})
    page = Page(artifact.explain(format="html", extents={"M": 60, "N": 3000}))
    drawn = json.loads(next(t for t in page.texts["script"] if t.startswith("{")))["0"]
    body, *_ = rectangles(page, "y")
    written = drawn["verbs"].index("write")
    for sample, boxes in zip(report.picture.scenes[0].samples, drawn["samples"], strict=True):
        rows, columns = sample.footprints[-1].swept
        x, y, w, h = boxes[written][0]
        assert x == pytest.approx(body[0] + body[2] * columns.low / 3000, abs=0.2)
        assert w == pytest.approx(body[2] * (columns.high + 1 - columns.low) / 3000, abs=0.2)
        assert y == pytest.approx(body[1] + body[3] * rows.low / 60, abs=2.0)
    assert len({tuple(boxes[written][0]) for boxes in drawn["samples"]}) == len(drawn["samples"])


def rectangles(page, name):
    """The rectangle of a resource and that of its layers: the first two after its group opens."""
    tags = iter(page.tags)
    next(a for _, a in tags if a.get("data-resource") == name)
    found = [next(a for t, a in tags if t == "rect") for _ in range(2)]
    return [tuple(float(a[k]) for k in ("x", "y", "width", "height")) for a in found]


def test_data_cannot_end_its_script():
    assert _json({"a": "</script>&"}) == '{"a":"\\u003c/script\\u003e\\u0026"}'


KIR = """\
kernel copy
  view x: f32[N] in
  view y: f32[N] out
  domain 0 points
  body ^0() {
    %1 index = extent_value #0 extent=<0>
    %2 index = extent_value #1 extent=<1>
    %3:points index[N] = iota #2 begin=%1 step=%2 domain=0
    %4:x f32[N] = load #3 source=@x relation=[%3:points(0)]
    store #4 target=@y relation=[%3:points(0)] value=%4:x
  }
"""


def test_a_kernel_without_a_source_has_a_page(explained):
    artifact, report = explained(parse_kernel(KIR))
    assert report.lines == ()
    assert all(access.place is None for access in report.segments[0].accesses)
    page = Page(artifact.explain(format="html"))
    assert not page.faults
    assert "The source is not known." in page.texts["p"]


def test_a_saved_artifact_keeps_the_lines_that_it_uses(explained, tmp_path):
    artifact, report = explained(three)
    loaded = intent.load(artifact.save(tmp_path / "three")).report()
    wanted = [(line.line, line.text) for line in report.lines if line.used]
    assert [(line.line, line.text) for line in loaded.lines if line.used] == wanted


class Refusing:
    """The reference provider, except that it can emit nothing."""

    def __init__(self, provider):
        self._provider = provider

    def __getattr__(self, name):
        return getattr(self._provider, name)

    def serialize(self, program):
        raise CapabilityError("reference", capability="<nothing>", needed="something")


def test_what_the_target_lacks_is_said_where_its_source_would_stand():
    artifact = intent.compile(three, Refusing(registry().get("reference")))
    report = artifact.report()
    assert report.emitted.lines == ()
    assert "does not support <nothing>" in report.emitted.refusal
    page = Page(artifact.explain(format="html"))
    assert not page.faults
    assert any("does not support <nothing>" in text for text in page.texts["p"])
    assert len(report.segments) == 3


@intent.kernel
def hostile(x: I.In[I.f32, ("N",)], NAME: I.Constexpr[str], y: I.Out[I.f32, ("N",)]):
    y[...] = x[...] * 2.0  # </script><script>alert("1")</script> & <b>'bold'</b>


def test_what_the_author_wrote_is_text(explained):
    artifact, _ = explained(hostile, NAME="</style><img src=x onerror=alert(1)>")
    page = Page(artifact.explain(format="html"))
    assert not page.faults
    assert not page.open
    assert [t for t, _ in page.tags if t in ("b", "img")].count("img") == 0
    assert len([t for t, _ in page.tags if t == "script"]) == 2
    said = "".join(text for texts in page.texts.values() for text in texts)
    assert '</script><script>alert("1")</script> & <b>' in said
    assert "</style><img src=x onerror=alert(1)>" in said


def test_markup_escapes_text_and_attributes_and_keeps_markup():
    made = tag("td", "a < b & c", tag("b", 3), None, title='say "x" & <y>', data_k=None, class_="n")
    assert made == '<td title="say &quot;x&quot; &amp; &lt;y&gt;" class="n">a &lt; b &amp; c<b>3</b></td>'
    assert isinstance(made, Html)
    assert tag("br") == "<br>"
    assert tag("rect", x=1.50, y=2.0) == '<rect x="1.5" y="2"></rect>'
