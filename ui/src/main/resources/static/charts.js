"use strict";
// One style for all charts. A chart is a table that is drawn: <figure class="chart" data-chart="line"> with a canvas and the table
// it shows, the first column of which is the axis. Without JavaScript, and for who hears the page, there is the table.
(() => {
    // NB: a token may be two colours, light and dark: only an element has the one that is meant.
    function token(name) {
        const inked = document.body.appendChild(document.createElement("i"));
        inked.style.color = `var(${name})`;
        const colour = getComputedStyle(inked).color;
        inked.remove();
        return colour;
    }
    const tones = () => [token("--accent"), token("--safe"), token("--gap"), token("--quiet")];

    function read(table) {
        const rows = [...table.tBodies[0].rows];
        const headings = [...table.tHead.rows[0].cells].map(cell => cell.textContent.trim());
        const axes = Number(table.closest("figure").dataset.axes ?? 1);
        const value = cell => Number(cell.dataset.value ?? cell.textContent);
        return {
            labels: rows.map(row => row.cells[0].textContent.trim()),
            datasets: headings.slice(1).map((label, i) => ({
                label,
                yAxisID: i > 0 && axes === 2 ? "y1" : "y",
                data: rows.map(row => value(row.cells[i + 1])),
                borderColor: tones()[i % tones().length],
                backgroundColor: tones()[i % tones().length],
                borderWidth: 1.5, pointRadius: 0, pointHitRadius: 8, tension: 0,
            })),
        };
    }

    // What is counted in different units has an axis each: the second is on the right.
    function scales(figure, axis) {
        const y = { ...axis, beginAtZero: true };
        return figure.dataset.axes === "2" ? { x: axis, y, y1: { ...y, position: "right", grid: { drawOnChartArea: false } } } : { x: axis, y };
    }

    function draw(figure) {
        const still = matchMedia("(prefers-reduced-motion: reduce)").matches || figure.dataset.live !== undefined;
        const axis = { grid: { color: token("--line") }, ticks: { color: token("--quiet"), maxRotation: 0 }, border: { display: false } };
        const kept = Chart.getChart(figure.querySelector("canvas"));
        if (kept) {
            kept.data = read(figure.querySelector("table"));
            kept.update("none");
            return;
        }
        figure.classList.add("drawn");
        new Chart(figure.querySelector("canvas"), {
            type: figure.dataset.chart,
            data: read(figure.querySelector("table")),
            options: {
                animation: still ? false : { duration: 200 },
                maintainAspectRatio: false,
                interaction: { mode: "index", intersect: false },
                plugins: { legend: { labels: { color: token("--ink"), boxWidth: 10, boxHeight: 2 } } },
                scales: scales(figure, axis),
            },
        });
    }

    const drawAll = root => root.querySelectorAll("figure.chart").forEach(draw);
    document.addEventListener("DOMContentLoaded", () => drawAll(document));
    document.addEventListener("chart", event => draw(event.target));
    document.addEventListener("htmx:afterSettle", event => drawAll(event.target.closest("main") ?? document));
})();
