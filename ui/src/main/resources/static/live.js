"use strict";
// Follows a run by server-sent events: the page has the places, an event has the values, a name and a value a line. Where there are
// none (an old browser, a login that is over), the page stays as it was loaded, and says so.
(() => {
    const CHART_ROWS = 120;
    const FOUND_EVERY_MS = 5000;
    const RETRY_MIN_MS = 2000;
    const RETRY_MAX_MS = 60_000;

    const values = data => new Map(data.split("\n").map(line => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));

    function show(root, name, value) {
        root.querySelectorAll(`[data-live="${name}"]`).forEach(each => { each.textContent = value; });
    }

    // Of the words for a value, the one that fits: the page has them all, in its language.
    function choose(root, name, value) {
        root.querySelectorAll(`[data-live-word="${name}"] > [data-value]`).forEach(each => { each.hidden = each.dataset.value !== value; });
    }

    function bar(meter, share, moved) {
        meter.querySelector(".moved")?.setAttribute("width", moved);
        const level = meter.querySelector(".level");
        level.setAttribute("width", share);
        level.classList.toggle("part", Number(share) < 100);
    }

    function drawChart(figure, time, pair) {
        const body = figure.querySelector("tbody");
        const row = body.insertRow();
        for (const text of [time, ...pair.split(" ")]) {
            const cell = row.insertCell();
            cell.textContent = text;
            cell.className = row.cells.length > 1 ? "number" : "";
        }
        row.cells[0].dataset.v = Date.now() / 1000;
        while (body.rows.length > CHART_ROWS) {
            body.deleteRow(0);
        }
        figure.hidden = false;
        globalThis.drawCharts?.();
    }

    // Rows of a number, a bar and other cells.
    function drawRows(table, text) {
        const template = table.querySelector("template");
        const rows = text === "" ? [] : text.split(";").map(each => {
            const [number, share, ...cells] = each.split(":");
            const row = template.content.cloneNode(true);
            row.querySelector("th").textContent = number;
            bar(row, share);
            row.querySelector(".share > span").textContent = share + " %";
            row.querySelectorAll("td.number").forEach((cell, i) => { cell.textContent = cells[i]; });
            return row;
        });
        table.tBodies[0].replaceChildren(...rows);
        table.closest(".scroll").hidden = rows.length === 0;
    }

    async function loaded(run, headers) {
        const answer = await fetch(run.dataset.page, {headers});
        if (!answer.ok) {
            throw new Error(answer.status);
        }
        return new DOMParser().parseFromString(await answer.text(), "text/html");
    }

    // Parts of the page as a new page would have them; the others stay. What cannot be loaded now is loaded the next time.
    async function anew(run, ids, headers) {
        const page = await loaded(run, headers).catch(() => null);
        for (const id of ids) {
            const fresh = page?.getElementById(id);
            const old = run.querySelector("#" + id);
            if (fresh && old && !old.contains(document.activeElement)) {
                old.replaceWith(document.adoptNode(fresh));
            }
        }
        globalThis.drawCharts?.();
    }

    // The page of a run that has ended, in place; what was unfolded stays so. Without a login, the browser asks for one.
    async function finish(run) {
        let fresh;
        try {
            fresh = (await loaded(run)).getElementById("run");
        } catch {
            setTimeout(() => finish(run), RETRY_MIN_MS * (1 + Math.random()));
            return;
        }
        if (!fresh) {
            location.reload();
            return;
        }
        run.querySelectorAll("details[open][id]").forEach(each => fresh.querySelector("#" + each.id)?.setAttribute("open", ""));
        run.replaceWith(document.adoptNode(fresh));
        globalThis.drawCharts?.();
    }

    function lost(run, isLost) {
        run.querySelectorAll("[data-live-lost]").forEach(each => { each.hidden = !isLost; });
    }

    // A browser connects again by itself after a lost connection, but not after a refusal, such as too many requests.
    function follow(run, pause = RETRY_MIN_MS) {
        const source = new EventSource(run.dataset.events);
        let state = run.dataset.state;
        let findings = run.dataset.findings;
        let told = Date.now();
        let listed = told;
        source.addEventListener("sample", event => {
            const found = values(event.data);
            found.forEach((value, name) => show(run, name, value));
            run.querySelectorAll("[data-live-bar]").forEach(each => bar(each, found.get("share"), found.get("share-moved")));
            run.querySelectorAll("[data-planned]").forEach(each => { each.hidden = (found.get("of-units") === "0") === (each.dataset.planned === "yes"); });
            choose(run, "limit", found.get("limit"));
            run.querySelectorAll("table[data-live-rows]").forEach(each => drawRows(each, found.get(each.dataset.liveRows)));
            if (found.get("chart") !== "") {
                run.querySelectorAll("figure[data-live]").forEach(each => drawChart(each, found.get("time"), found.get("chart")));
            }
            // What is found may change every second: the list of it follows after a while.
            if (state !== found.get("state") || (findings !== found.get("findings") && Date.now() - told > FOUND_EVERY_MS)) {
                state = found.get("state");
                findings = found.get("findings");
                told = Date.now();
                anew(run, ["about", "pace", "reconciled", "found"]);
            } else if (Date.now() - listed > FOUND_EVERY_MS) {
                listed = Date.now();
                anew(run, ["experiments"], {"HX-Request": "true"});
            }
        });
        source.addEventListener("ended", () => {
            source.close();
            finish(run);
        });
        source.addEventListener("error", () => {
            if (source.readyState === EventSource.CLOSED) {
                lost(run, true);
                // Not all viewers at the same time.
                setTimeout(() => follow(run, Math.min(2 * pause, RETRY_MAX_MS)), pause * (1 + Math.random()));
            }
        });
        source.addEventListener("open", () => {
            pause = RETRY_MIN_MS;
            lost(run, false);
        });
        addEventListener("pagehide", () => source.close());
    }

    document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("[data-events]").forEach(run => follow(run)));
})();
