"use strict";
(() => {
  const root = document.documentElement;
  document.getElementById("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  // The author's lines: everything that comes of a line carries its key.
  const byKey = new Map();
  for (const element of document.querySelectorAll("[data-k]")) {
    for (const key of element.dataset.k.split(" ")) {
      if (!byKey.has(key)) byKey.set(key, []);
      byKey.get(key).push(element);
    }
  }
  let pinned = null;
  const light = (keys) => {
    for (const element of document.querySelectorAll(".hot")) element.classList.remove("hot");
    for (const key of keys || []) for (const element of byKey.get(key) || []) element.classList.add("hot");
  };
  const keysOf = (target) => {
    const element = target.closest ? target.closest("[data-k]") : null;
    return element ? element.dataset.k.split(" ") : null;
  };
  document.addEventListener("mouseover", (event) => {
    if (!pinned) light(keysOf(event.target));
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("button, a, .cell")) return;
    const keys = keysOf(event.target);
    pinned = keys && !(pinned && pinned.join() === keys.join()) ? keys : null;
    light(pinned);
    if (!pinned) return;
    const from = event.target.closest(".lines");
    for (const pane of document.querySelectorAll(".lines")) {
      const first = pane.querySelector(".hot");
      if (pane !== from && first) pane.scrollTop = first.offsetTop - pane.offsetTop - pane.clientHeight / 3;
    }
  });

  for (const pane of document.querySelectorAll(".pane.emitted .lines")) {
    const first = pane.querySelector("[data-k]");
    const down = first ? first.offsetTop - pane.offsetTop : 0;
    if (down > pane.clientHeight / 2) pane.scrollTop = down - 120;
  }

  // The pictures: another program, another pass.
  const scenes = JSON.parse(document.getElementById("scenes").textContent);
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const place = (rect, box) => {
    rect.style.display = box ? "" : "none";
    if (box) ["x", "y", "width", "height"].forEach((name, k) => rect.setAttribute(name, box[k]));
  };
  const flow = (side, edge, tile, cell, grid) => {
    const [x, y, w, h] = tile, [cx, cy, cw, ch] = cell, [gx, gy, gw, gh] = grid;
    if (side === "below") {
      const [x1, y1, x2, y2] = [x + w / 2, edge, cx + cw / 2, gy + gh], bend = (y1 - y2) / 2;
      return `M${x1} ${y1}C${x1} ${y1 - bend} ${x2} ${y2 + bend} ${x2} ${y2}`;
    }
    const left = side === "left";
    const [x1, y1, x2, y2] = [edge, y + h / 2, left ? gx : gx + gw, cy + ch / 2], bend = (x2 - x1) / 2;
    return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  };
  for (const svg of document.querySelectorAll("svg.scene")) {
    const scene = scenes[svg.dataset.scene];
    if (!scene || !scene.samples.length) continue;
    const cells = [...svg.querySelectorAll(".cell")];
    const caption = document.querySelector(`.caption[data-scene="${svg.dataset.scene}"]`);
    const button = document.querySelector(`.play[data-scene="${svg.dataset.scene}"]`);
    const parts = scene.verbs.map((_, k) => ({
      swept: svg.querySelector(`.swept[data-f="${k}"]`), tile: svg.querySelector(`.tile[data-f="${k}"]`),
      flow: svg.querySelector(`.flow[data-f="${k}"]`), layer: svg.querySelector(`.layer[data-f="${k}"]`),
    }));
    const cellBox = (n) => ["x", "y", "width", "height"].map((name) => +cells[n].firstChild.getAttribute(name));
    let current = scene.chosen;
    const tiles = (share) => parts.forEach((part, k) => {
      const [, first, last] = scene.samples[current][k];
      const tile = first && last ? first.map((value, i) => value + (last[i] - value) * share) : first;
      place(part.tile, tile);
      if (part.flow) {
        part.flow.style.display = tile ? "" : "none";
        if (tile) part.flow.setAttribute("d", flow(scene.sides[k], scene.edges[k], tile, cellBox(current), scene.grid));
      }
    });
    const choose = (n) => {
      cells[current].classList.remove("chosen");
      current = n;
      cells[n].classList.add("chosen");
      parts.forEach((part, k) => {
        place(part.swept, scene.samples[n][k][0]);
        if (part.layer) place(part.layer, scene.samples[n][k][3]);
      });
      tiles(0);
      caption.textContent = scene.captions[n];
    };
    cells.forEach((cell, n) => {
      for (const kind of ["mouseenter", "focus", "click"]) cell.addEventListener(kind, () => choose(n));
    });
    const moving = scene.samples.some((sample) => sample.some(([, first, last]) => first && last && `${first}` !== `${last}`));
    if (!moving || still) continue;
    button.hidden = false;
    let timer = null, step = 0;
    button.addEventListener("click", () => {
      if (timer) {
        clearInterval(timer);
        timer = null;
        tiles(0);
      } else {
        step = 0;
        timer = setInterval(() => tiles((step = (step + 1) % 9) / 8), 280);
      }
      button.textContent = timer ? "■ stop" : "▶ passes";
    });
  }
})();
