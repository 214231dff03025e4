// Zoom, search and layout of a flame graph. Without this script, the graph is complete at its full width.
(() => {
  "use strict";
  const svg = document.documentElement;
  if (svg.localName !== "svg") return;
  const [LINE, CHARACTER, LEAST] = [15, 6.7, 3];
  const made = name => document.createElementNS(svg.namespaceURI, name);
  const boxes = [...svg.querySelectorAll("g")].map(group => {
    const rect = group.querySelector("rect");
    let text = group.querySelector("text");
    if (!text) text = group.appendChild(made("text"));
    return {
      group, rect, text,
      x: Number(rect.getAttribute("x")), width: Number(rect.getAttribute("width")), y: Number(rect.getAttribute("y")),
    };
  });
  const root = boxes[0];
  const [MARGIN, ROW] = [root.x, Number(root.rect.getAttribute("height")) + 1];
  for (const box of boxes) {
    box.level = Math.round((box.y - root.y) / ROW);
    box.start = (box.x - root.x) / root.width;
    box.share = box.width / root.width;
    box.name = box.group.dataset.name;
    box.group.setAttribute("tabindex", "0");
  }
  const levels = Math.max(...boxes.map(box => box.level)) + 1;
  const heads = [...svg.querySelectorAll(":scope > text.head, :scope > text.note")];
  const words = heads.slice(0, 2).map(text => text.textContent.split(" "));
  const legend = heads.slice(2).map(text => [text, text.previousElementSibling]);
  const tools = made("foreignObject");
  svg.appendChild(tools);
  tools.innerHTML = '<div xmlns="http://www.w3.org/1999/xhtml" class="tools">'
    + '<input type="search" placeholder="Search a function" aria-label="Search a function"/>'
    + '<button type="button" hidden="hidden">Whole graph</button><span role="status"></span></div>';
  const [input, button, status] = ["input", "button", "span"].map(name => tools.querySelector(name));
  let zoomed = root;

  function wrapped(text, parts, top, character, room) {
    text.replaceChildren();
    let line = "";
    const flush = () => {
      const span = text.appendChild(made("tspan"));
      span.setAttribute("x", MARGIN);
      span.setAttribute("y", top);
      span.textContent = line;
      top += LINE + 3;
      line = "";
    };
    for (const part of parts) {
      if (line && (line.length + part.length + 1) * character > room) flush();
      line += (line && " ") + part;
    }
    flush();
    return top;
  }

  function layout() {
    const width = Math.max(300, window.innerWidth), room = width - 2 * MARGIN;
    let top = wrapped(heads[0], words[0], 20, 8.5, room);
    top = wrapped(heads[1], words[1], top, CHARACTER, room);
    let x = MARGIN;
    for (const [text, square] of legend) {
      const size = 27 + CHARACTER * text.textContent.length;
      if (x > MARGIN && x + size > width - MARGIN) [x, top] = [MARGIN, top + LINE];
      square.setAttribute("x", x);
      square.setAttribute("y", top - 9);
      text.setAttribute("x", x + 15);
      text.setAttribute("y", top);
      x += size;
    }
    for (const [name, value] of [["x", MARGIN], ["y", top + 8], ["width", room], ["height", 30]]) tools.setAttribute(name, value);
    const height = top + 46 + levels * ROW + MARGIN;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    for (const box of boxes) {
      const start = Math.max(0, (box.start - zoomed.start) / zoomed.share);
      const end = Math.min(1, (box.start + box.share - zoomed.start) / zoomed.share);
      const wide = (end - start) * room;
      box.group.style.display = wide > 0.3 ? "" : "none";
      if (wide <= 0.3) continue;
      const [left, y] = [MARGIN + start * room, top + 44 + box.level * ROW];
      box.rect.setAttribute("x", left.toFixed(1));
      box.rect.setAttribute("y", y);
      box.rect.setAttribute("width", Math.max(0.1, wide - 0.4).toFixed(1));
      box.group.classList.toggle("above", box.level < zoomed.level);
      const fits = Math.floor((wide - 4) / CHARACTER);
      box.text.textContent = fits < LEAST ? "" : box.name.length <= fits ? box.name : box.name.slice(0, fits - 1) + "…";
      box.text.setAttribute("x", (left + 2).toFixed(1));
      box.text.setAttribute("y", y + 12);
    }
    button.hidden = zoomed === root;
  }

  function search() {
    const wanted = input.value.toLowerCase();
    let [share, end] = [0, -1];
    const found = boxes.filter(box => wanted && box.level && box.name.toLowerCase().includes(wanted));
    for (const box of boxes) box.group.classList.toggle("found", found.includes(box));
    for (const box of found.sort((a, b) => a.start - b.start || b.share - a.share)) {
      if (box.start + 1e-9 < end) continue;
      share += box.share;
      end = box.start + box.share;
    }
    status.textContent = wanted ? `${(100 * share).toFixed(1)} % of the width` : "";
  }

  function zoom(box) {
    zoomed = box;
    layout();
  }
  for (const box of boxes) {
    box.group.addEventListener("click", () => zoom(box));
    box.group.addEventListener("keydown", event => { if (event.key === "Enter") zoom(box); });
  }
  window.addEventListener("keydown", event => { if (event.key === "Escape") zoom(root); });
  window.addEventListener("resize", layout);
  button.addEventListener("click", () => zoom(root));
  input.addEventListener("input", search);
  layout();
})();
