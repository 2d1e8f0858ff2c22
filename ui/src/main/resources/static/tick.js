// The box in a list's head ticks all boxes of the page. Without this script, the box is not shown.
"use strict";
const boxes = head => head.closest("form").querySelectorAll("tbody input[type=checkbox]");
const show = () => document.querySelectorAll("input[data-ticks]").forEach(head => { head.hidden = false; });
document.addEventListener("change", event => {
    if (event.target.matches("input[data-ticks]")) {
        boxes(event.target).forEach(box => { box.checked = event.target.checked; });
    } else if (event.target.matches("tbody input[name=experiments]")) {
        const head = event.target.closest("form").querySelector("input[data-ticks]");
        head.checked = [...boxes(head)].every(box => box.checked);
    }
});
document.addEventListener("htmx:afterSwap", show);
show();
