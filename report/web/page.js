// SPDX-License-Identifier: Apache-2.0
// Draws the panels in the colours of the reader's theme, dims the other lines under the pointer, sorts and filters the table.
(() => {
  "use strict";
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const palettes = JSON.parse(document.getElementById("palettes").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  // Named one by one: the usual set has a button that sends the plot to a server.
  const config = {
    responsive: true, displaylogo: false, modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
  };
  const narrow = 480;

  // Colours are tokens such as "color:tutti" until the theme is known.
  const painted = (value, palette) => {
    if (typeof value === "string") return value.startsWith("color:") ? palette[value.slice(6)] : value;
    if (Array.isArray(value)) return value.map((item) => painted(item, palette));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, painted(item, palette)]));
  };

  const fitted = (figure, width) => {
    if (width >= narrow) return figure;
    const small = (item) => (item.font ? { ...item, font: { ...item.font, size: 9 } } : item);
    const layout = { ...figure.layout, annotations: figure.layout.annotations.map(small) };
    layout.font = { ...layout.font, size: 10 };
    layout.margin = { ...layout.margin, l: 44, r: Math.round(layout.margin.r * 0.84) };
    return { data: figure.data, layout };
  };

  const draw = (palette) => {
    for (const element of document.querySelectorAll(".plot")) {
      const figure = painted(figures[element.id], palette);
      const { data, layout } = fitted(figure, element.clientWidth);
      Plotly.react(element, data, layout, config);
    }
  };
  const themed = () => draw(dark.matches ? palettes.dark : palettes.light);

  const dim = (element, chosen) => {
    const opacity = element.data.map((_, index) => (chosen === null || index === chosen ? 1 : 0.18));
    Plotly.restyle(element, { opacity });
  };
  const dimOnHover = (element) => {
    if (element.dataset.kind !== "lines" || element.data.length < 3) return;
    element.on("plotly_hover", (event) => dim(element, event.points[0].curveNumber));
    element.on("plotly_unhover", () => dim(element, null));
  };

  themed();
  document.querySelectorAll(".plot").forEach(dimOnHover);
  dark.addEventListener("change", themed);
  window.addEventListener("beforeprint", () => draw(palettes.light));
  window.addEventListener("afterprint", themed);

  const table = document.querySelector("#numbers table");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const search = document.getElementById("search");
  const choosers = [...document.querySelectorAll(".controls select")];
  const count = document.getElementById("count");

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const fits = words.every((word) => text.includes(word)) &&
        choosers.every((chooser) => !chooser.value || row.cells[chooser.dataset.column].textContent === chooser.value);
      row.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown} of ${rows.length} rows`;
  };
  search.addEventListener("input", filter);
  choosers.forEach((chooser) => chooser.addEventListener("change", filter));
  filter();

  const keyOf = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent : cell.dataset.value === "" ? Infinity : Number(cell.dataset.value);
  };
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
      rows.sort((a, b) => (descending ? -1 : 1) * order(keyOf(a, column), keyOf(b, column)));
      body.append(...rows);
    });
  });
})();
