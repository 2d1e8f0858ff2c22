// What a folder says fills fields that are empty; what somebody has typed while it was looked into stays as it is, and so does the field
// that somebody is in.
document.addEventListener('htmx:oobBeforeSwap', event => {
    const slot = event.detail.target;
    const input = slot.querySelector('input, select');
    const typed = input && input.value !== '' && input.value !== (slot.dataset.suggested ?? '');
    if (typed || slot.contains(document.activeElement)) {
        event.detail.shouldSwap = false;
    }
});
