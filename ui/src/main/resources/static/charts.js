"use strict";
// One style for all charts. A chart is a table that is drawn: <figure class="chart" data-chart="line"> with a canvas and the table
// it shows, the first column of which is the axis. Without JavaScript, and for who hears the page, there is the table.
(() => {
    const token = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const tones = () => [token("--accent"), token("--safe"), token("--gap"), token("--quiet")];

    function read(table) {
        const rows = [...table.tBodies[0].rows];
        const headings = [...table.tHead.rows[0].cells].map(cell => cell.textContent.trim());
        const value = cell => Number(cell.dataset.value ?? cell.textContent);
        return {
            labels: rows.map(row => row.cells[0].textContent.trim()),
            datasets: headings.slice(1).map((label, i) => ({
                label,
                data: rows.map(row => value(row.cells[i + 1])),
                borderColor: tones()[i % tones().length],
                backgroundColor: tones()[i % tones().length],
                borderWidth: 1.5, pointRadius: 0, pointHitRadius: 8, tension: 0,
            })),
        };
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
                scales: { x: axis, y: { ...axis, beginAtZero: true } },
            },
        });
    }

    const drawAll = root => root.querySelectorAll("figure.chart").forEach(draw);
    document.addEventListener("DOMContentLoaded", () => drawAll(document));
    document.addEventListener("htmx:afterSettle", event => drawAll(event.target.closest("main") ?? document));
})();
