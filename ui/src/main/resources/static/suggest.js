// What a folder says fills fields that are empty; what somebody has typed while it was looked into stays as it is.
document.addEventListener('htmx:oobBeforeSwap', event => {
    const slot = event.detail.target;
    const input = slot.querySelector('input');
    if (input && input.value !== '' && input.value !== (slot.dataset.suggested ?? '')) {
        event.detail.shouldSwap = false;
    }
});
