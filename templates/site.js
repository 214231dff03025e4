(() => {
  "use strict";
  // Charts of a machine share the range of records that they show.
  const source = document.getElementById("history");
  if (!source) return;
  const machines = JSON.parse(source.textContent);
  const LEAST = 4;
  const MANY = 300;
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("role", "status");
  document.body.append(tip);
  const svgElement = (kind, cls) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", kind);
    element.setAttribute("class", cls);
    return element;
  };
  const line = (tag, text) => {
    const element = document.createElement(tag);
    element.textContent = text;
    return element;
  };
  const link = (text, address) => {
    const element = line("a", text);
    element.href = address;
    return element;
  };
  const hide = () => { tip.hidden = true; tip.classList.remove("pinned"); };

  document.querySelectorAll(".machine").forEach((section) => {
    const { records, charts: data } = machines[Number(section.dataset.machine)];
    const charts = [...section.querySelectorAll("svg.history")].map((svg, n) => {
      const cursor = svg.appendChild(svgElement("path", "cursor"));
      const range = svg.appendChild(svgElement("rect", "range"));
      range.setAttribute("height", "100");
      range.setAttribute("width", "0");
      return { svg, cursor, range, ...data[n], at: data[n].at ?? records.map((_, x) => x) };
    });
    const tools = section.querySelector(".range");
    const dates = section.querySelectorAll(".dates span");
    let from = 0;
    let count = records.length;
    let current = records.length - 1;

    const zoom = (first, number) => {
      count = Math.max(Math.min(LEAST, records.length), Math.min(records.length, Math.round(number)));
      from = Math.max(0, Math.min(records.length - count, Math.round(first)));
      for (const { svg } of charts) {
        svg.setAttribute("viewBox", `${from - 0.5} 0 ${count} 100`);
        svg.classList.toggle("many", count > MANY);
      }
      const all = count === records.length;
      tools.hidden = all;
      tools.firstElementChild.textContent = `Records ${from + 1} to ${from + count} of ${records.length}`;
      dates[0].textContent = records[from].end;
      dates[1].textContent = records[from + count - 1].end;
    };
    const text = (chart, digits) => (digits / 10 ** chart.decimals).toFixed(chart.decimals);
    const interval = (chart, n) => {
      const [value, [below, above]] = [chart.values[n], chart.intervals[n]];
      return `95 % CI [${text(chart, value - below)}, ${text(chart, value + above)}]`;
    };
    const place = (chart, x) => {
      const box = chart.svg.getBoundingClientRect();
      return from - 0.5 + ((x - box.left) / box.width) * count;
    };
    const nearest = (chart, at) => chart.at.reduce(
      (best, x, n) => (Math.abs(x - at) < Math.abs(chart.at[best] - at) ? n : best), 0);
    const show = (chart, n, pinned) => {
      current = chart.at[n];
      for (const other of charts) other.cursor.setAttribute("d", `M${current} 0V100`);
      const record = records[current];
      const head = line("b", `${text(chart, chart.values[n])} ${chart.unit} measured`);
      const notes = [chart.intervals[n] && interval(chart, n), record.when,
        chart.outliers.includes(n) && "outlier: differs from the records around it"];
      tip.replaceChildren(head, ...notes.filter(Boolean).map((text) => line("span", text)));
      if (record.report) tip.append(link("Report", record.report), " ");
      if (record.commit) tip.append(link(record.revision, record.commit));
      else if (record.revision) tip.append(record.revision);
      tip.classList.toggle("pinned", Boolean(pinned));
      tip.hidden = false;
      const box = chart.svg.getBoundingClientRect();
      const x = box.left + ((current + 0.5 - from) / count) * box.width;
      const left = Math.min(Math.max(8, x + 12), document.documentElement.clientWidth - tip.offsetWidth - 8);
      tip.style.left = `${left + scrollX}px`;
      tip.style.top = `${box.bottom + scrollY + 4}px`;
    };

    for (const chart of charts) {
      const { svg } = chart;
      let start = null;
      svg.addEventListener("pointermove", (event) => {
        if (start !== null && Math.abs(event.clientX - start.x) > 5) {
          const ends = [place(chart, start.x), place(chart, event.clientX)].sort((a, b) => a - b);
          for (const other of charts) {
            other.range.setAttribute("x", ends[0]);
            other.range.setAttribute("width", ends[1] - ends[0]);
          }
          hide();
        } else if (!tip.classList.contains("pinned")) show(chart, nearest(chart, place(chart, event.clientX)));
      });
      svg.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        start = { x: event.clientX };
        if (event.pointerType === "mouse") svg.setPointerCapture(event.pointerId);
      });
      svg.addEventListener("pointerup", (event) => {
        const begin = start;
        start = null;
        for (const other of charts) other.range.setAttribute("width", "0");
        if (begin === null) return;
        if (Math.abs(event.clientX - begin.x) <= 5) {
          show(chart, nearest(chart, place(chart, event.clientX)), true);
          return;
        }
        const ends = [place(chart, begin.x), place(chart, event.clientX)].sort((a, b) => a - b);
        zoom(Math.ceil(ends[0]), Math.floor(ends[1]) - Math.ceil(ends[0]) + 1);
      });
      svg.addEventListener("pointercancel", () => {
        start = null;
        for (const other of charts) other.range.setAttribute("width", "0");
      });
      svg.addEventListener("pointerleave", () => { if (!tip.classList.contains("pinned")) hide(); });
      svg.addEventListener("dblclick", () => { hide(); zoom(0, records.length); });
      svg.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (step) {
          const n = Math.min(chart.at.length - 1, Math.max(0, nearest(chart, current) + step));
          if (chart.at[n] < from || chart.at[n] >= from + count) zoom(chart.at[n] - (step > 0 ? count - 1 : 0), count);
          show(chart, n);
        } else if (event.key === "+") zoom(current - count / 4, count / 2);
        else if (event.key === "-") zoom(from - count / 2, count * 2);
        else if (event.key === "Enter") {
          show(chart, nearest(chart, current), true);
          tip.querySelector("a")?.focus();
        } else return;
        event.preventDefault();
      });
    }
    tools.querySelector("button").addEventListener("click", () => zoom(0, records.length));
  });
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  addEventListener("pointerdown", (event) => {
    if (!event.target.closest("svg.history, .tip")) hide();
  });
})();
