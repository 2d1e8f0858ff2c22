"use strict";
// Draws tables of values over time with uPlot, above their table, which is then folded. Without this script the table is open.
// A row's first cell has its time in data-v, in seconds since 1970; another cell has its value in data-v, or is a number. A head with
// data-plot="PICTURE KIND UNIT" is drawn: columns of one PICTURE share its axes; KIND is line, dash, limit or bar; UNIT is of the axis.
(() => {
    const [HIGH, LOW, HOUR, DAY] = [120, 76, 3600, 86_400];
    const [DASHES, MARKERS] = [{ dash: [6, 4], limit: [2, 3] }, { dash: "dashed", limit: "dotted" }];
    const page = document.documentElement;
    const lang = page.lang === "en" ? "en-GB" : page.lang;
    const probe = document.createElement("span");
    const pictures = new Map();
    function ink(name) {
        probe.style.color = `var(--${name})`;
        return getComputedStyle(probe).color;
    }

    // Times are in the zone of the page, as in its texts. A browser may not know it by Java's name.
    function knownZone() {
        try {
            return new Intl.DateTimeFormat(lang, { timeZone: page.dataset.zone }).resolvedOptions().timeZone;
        } catch {
            return "UTC";
        }
    }
    const timeZone = knownZone();
    function timeLabels(times, step) {
        const shown = step < DAY ? { timeStyle: step < 60 ? "medium" : "short", hourCycle: "h23" }
            : step < 28 * DAY ? { day: "numeric", month: "short" } : { month: "short", year: "numeric" };
        const format = new Intl.DateTimeFormat(lang, { ...shown, timeZone });
        return times.map(at => format.format(new Date(at * 1000)));
    }

    function valueLabel(value, unit) {
        if (unit === "s") {
            const [seconds, word] = value < 120 ? [1, "s"] : value < 2 * HOUR ? [60, "min"] : [HOUR, "h"];
            return `${+(value / seconds).toFixed(1)} ${word}`;
        }
        if (unit.startsWith("B")) {
            const power = Math.max(0, Math.floor(Math.log10(value) / 3 + 1e-9));
            return `${+(value / 1000 ** power).toFixed(1)} ${["", "k", "M", "G", "T", "P", "E"][power]}${unit}`;
        }
        return value.toLocaleString(lang) + (unit === "%" ? " %" : unit);
    }
    const rowsOf = table => [...table.tBodies[0].rows];
    function valueOf(cell) {
        const value = Number.parseFloat(cell.dataset.v ?? cell.textContent);
        return Number.isNaN(value) ? null : value;
    }
    const dataOf = (table, columns) => [0, ...columns.map(column => column.at)].map(at => rowsOf(table).map(row => valueOf(row.cells[at])));

    // The legend has the texts of a row of the table: of the last one that is not a forecast, if the mouse is elsewhere.
    const lastOf = (rows, main) => rows.findLastIndex(row => valueOf(row.cells[main]) !== null);
    const words = (table, at, main) => (plot, value, series, row) => rowsOf(table)[row ?? lastOf(rowsOf(table), main)]?.cells[at].textContent.trim() || "–";
    function series(table, main, { at, name, kind }) {
        const stroke = () => ink(kind === "limit" ? "quiet" : "accent");
        const alone = kind === "line" && rowsOf(table).filter(row => valueOf(row.cells[at]) !== null).length === 1;
        const colours = { unit: 3, values: () => rowsOf(table).map(row => ink(row.querySelector(".bad") ? "gap" : "accent")) };
        const bar = kind === "bar" && { width: 0, fill: stroke, paths: uPlot.paths.bars({ size: [0.85, 40, 2], align: 1, disp: { fill: colours } }) };
        return { label: name, value: words(table, at, main), stroke, width: 2, dash: DASHES[kind], spanGaps: kind !== "line", points: { show: alone, size: 6 }, ...bar };
    }

    function options(table, columns, width, low) {
        const { unit, at: main } = columns[0];
        // A bar needs room behind the last time.
        const step = columns.some(column => column.kind === "bar") ? Number(table.dataset.step) : 0;
        const axis = { stroke: () => ink("quiet"), grid: { stroke: () => ink("line"), width: 1 }, ticks: { show: false }, font: `12px ${getComputedStyle(table).fontFamily}` };
        return {
            width, height: low ? LOW : HIGH, tzDate: at => uPlot.tzDate(new Date(at * 1000), timeZone),
            legend: { markers: { dash: (plot, at) => MARKERS[columns[at - 1].kind] ?? "solid" } },
            cursor: { y: false, drag: { x: false, y: false }, sync: { key: table.id } },
            scales: { x: { range: (plot, min, max) => [min, Math.max(max + step, min + 1)] }, y: { range: (plot, min, max) => [0, unit === "%" ? 100 : 1.05 * max || 1] } },
            axes: [
                { ...axis, size: 24, space: 90, values: (plot, splits, nth, space, increment) => timeLabels(splits, increment) },
                { ...axis, size: 68, space: low ? 40 : 34, values: (plot, splits) => splits.map(value => valueLabel(value, unit)) },
            ],
            series: [{ label: table.tHead.rows[0].cells[0].textContent, value: words(table, 0, main) }, ...columns.map(column => series(table, main, column))],
        };
    }

    function draw(table) {
        const groups = [...Map.groupBy([...table.tHead.rows[0].cells].filter(head => head.dataset.plot).map(head => {
            const [picture, kind, unit = ""] = head.dataset.plot.split(" ");
            return { at: head.cellIndex, name: head.textContent, picture, kind, unit };
        }), column => column.picture).values()];
        const low = groups.length > 1 && groups[0][0].unit === "%";
        const place = document.createElement("div");
        place.className = low ? "plots multiples" : "plots";
        place.setAttribute("aria-hidden", "true");
        table.closest("details").before(place);
        pictures.set(table, groups.map(columns => {
            const box = place.appendChild(document.createElement("div"));
            const plot = new uPlot(options(table, columns, box.clientWidth, low), dataOf(table, columns), box);
            plot.over.classList.toggle("leads", table.tBodies[0].querySelector("a") !== null);
            plot.over.addEventListener("click", () => rowsOf(table)[plot.cursor.idx]?.querySelector("a")?.click());
            new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: plot.height })).observe(box);
            return { plot, columns };
        }));
        table.closest("details").open = false;
    }

    // Draws what is not drawn yet, and again what may have changed.
    globalThis.drawCharts = () => {
        document.body.append(probe);
        pictures.forEach((made, table) => table.isConnected || pictures.delete(table));
        for (const table of document.querySelectorAll("table[data-chart]")) {
            if (pictures.has(table)) {
                pictures.get(table).forEach(({ plot, columns }) => plot.setData(dataOf(table, columns)));
            } else if (rowsOf(table).length > 0) {
                draw(table);
            }
        }
    };
    matchMedia("print").addEventListener("change", () => pictures.forEach(made => made.forEach(({ plot }) => plot.redraw())));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
        pictures.clear();
        document.querySelectorAll(".plots").forEach(place => place.remove());
        globalThis.drawCharts();
    });
    document.addEventListener("DOMContentLoaded", globalThis.drawCharts);
})();
