// The search field in the head of every page: / leads to it, arrows through its suggestions, Escape away from them.
(() => {
    const form = document.querySelector('form.search');
    if (!form) {
        return;
    }
    const field = form.querySelector('input');
    const list = form.querySelector('#suggestions');
    const writes = element => element.isContentEditable || element.matches('input, select, textarea');
    document.addEventListener('keydown', event => {
        if (event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey && !writes(event.target)) {
            event.preventDefault();
            field.focus();
            field.select();
        }
    });
    form.addEventListener('keydown', event => {
        const stops = [field, ...list.querySelectorAll('a')];
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        const at = stops.indexOf(document.activeElement);
        if (step && at >= 0) {
            event.preventDefault();
            stops[Math.min(Math.max(at + step, 0), stops.length - 1)].focus();
        } else if (event.key === 'Escape') {
            list.querySelector('ul')?.remove();
            field.focus();
        }
    });
    // What was asked for before Enter was pressed or the field was left comes too late.
    form.addEventListener('focusout', event => {
        if (!form.contains(event.relatedTarget)) {
            list.querySelector('ul')?.remove();
        }
    });
    form.addEventListener('htmx:beforeSwap', event => {
        event.detail.shouldSwap = event.detail.xhr.status === 200 && form.contains(document.activeElement);
    });
})();
