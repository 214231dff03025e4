(() => {
  "use strict";
  const root = document.documentElement;
  const START = "#view:";
  let view = new URLSearchParams();
  const keep = (key, chosen) => {
    if (chosen) view.set(key, chosen); else view.delete(key);
    try {
      history.replaceState(null, "", String(view) ? START + view : location.pathname + location.search);
    } catch { /* no address */ }
  };
  const make = (tag, text, cls) => {
    const element = document.createElement(tag);
    if (text) element.textContent = text;
    if (cls) element.className = cls;
    return element;
  };

  const theme = make("button", "", "theme");
  theme.type = "button";
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { theme.textContent = dark() ? "Light" : "Dark"; };
  const turn = (chosen) => { root.dataset.theme = chosen; name(); };
  theme.addEventListener("click", () => { turn(dark() ? "light" : "dark"); keep("theme", root.dataset.theme); });
  name();
  document.querySelector(".masthead").append(theme);

  const value = (cell) => {
    const data = cell.querySelector("data");
    const raw = data ? data.value : cell.textContent.trim();
    const number = Number(raw);
    return raw !== "" && raw !== "—" && Number.isFinite(number) ? number : raw;
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a === "number") return -1;
    if (typeof b === "number") return 1;
    return a.localeCompare(b, "en", { numeric: true });
  };
  const sort = (table, index, down) => {
    const head = table.tHead.rows[0].cells[index];
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => {
      const order = compare(value(a.cells[index]), value(b.cells[index]));
      return down ? -order : order;
    });
    table.tBodies[0].append(...rows);
  };

  const plain = (cell) => cell.innerText.replace(/\s+/g, " ").trim().replace(/([\\|*_`<[\]])/g, "\\$1");
  const markdown = (table) => {
    const line = (cells) => "| " + cells.join(" | ") + " |";
    const written = (row) => [...row.cells].filter((cell) => !cell.matches(".drawn"));
    const heads = written(table.tHead.rows[0]);
    const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
    return [
      line(heads.map(plain)),
      line(heads.map((cell) => cell.matches(".num") ? "--:" : ":--")),
      ...rows.map((row) => line(written(row).map(plain))),
    ].join("\n") + "\n";
  };
  const copy = async (text, button) => {
    let done = true;
    try { await navigator.clipboard.writeText(text); } catch { done = false; }
    button.textContent = done ? "Copied" : "Copy failed";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };

  const views = new Map();
  for (const table of document.querySelectorAll("table[data-sortable]")) {
    [...table.tHead.rows[0].cells].forEach((head, index) => {
      if (head.matches(".drawn")) return;
      const button = make("button", head.textContent);
      button.type = "button";
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        sort(table, index, down);
        keep(table.id, index + (down ? "d" : "a"));
      });
      head.replaceChildren(button);
    });
    const filter = make("input");
    filter.type = "search";
    filter.placeholder = "Filter rows";
    filter.setAttribute("aria-label", "Filter rows");
    const sift = () => {
      const terms = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of table.tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !terms.every((word) => text.includes(word));
      }
    };
    filter.addEventListener("input", () => { sift(); keep(table.id + ".rows", filter.value.trim()); });
    const button = make("button", "Copy", "copy");
    button.type = "button";
    button.title = "Copy as Markdown";
    button.addEventListener("click", () => copy(markdown(table), button));
    table.caption.append(button);
    const long = table.tBodies[0].rows.length >= 20;
    if (long) {
      const tools = make("div", "", "tools");
      tools.append(filter);
      table.parentElement.after(tools);
    }
    views.set(table.id, (words) => { if (long) { filter.value = words; sift(); } });
  }

  // Paper and links unfold the appendix.
  const unfold = (element) => {
    for (let part = element; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  };
  const reach = (id) => {
    const target = id && document.getElementById(id);
    if (target) { unfold(target); target.scrollIntoView(); }
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link) unfold(document.getElementById(link.hash.slice(1)));
  });
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details.part:not([open])")];
    for (const part of folded) part.open = true;
  });
  addEventListener("afterprint", () => { for (const part of folded) part.open = false; });

  const show = () => {
    if (!location.hash.startsWith(START)) { reach(decodeURIComponent(location.hash.slice(1))); return; }
    view = new URLSearchParams(location.hash.slice(START.length));
    let first;
    for (const [key, chosen] of view) {
      const id = key.replace(/\.rows$/, "");
      const table = views.has(id) && document.getElementById(id);
      if (key === "theme" && /^(light|dark)$/.test(chosen)) turn(chosen);
      else if (table && id !== key) views.get(id)(chosen);
      else if (table && /^\d+[ad]$/.test(chosen) && table.tHead.rows[0].cells[parseInt(chosen, 10)]) sort(table, parseInt(chosen, 10), chosen.endsWith("d"));
      first = first || table;
    }
    if (first) { unfold(first); first.scrollIntoView(); }
  };
  addEventListener("hashchange", show);
  show();
})();
