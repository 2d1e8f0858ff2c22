// A button that prints is shown only where it works; the text beside it says what to do otherwise.
for (const button of document.querySelectorAll('[data-print]')) {
    button.hidden = false;
    button.addEventListener('click', () => window.print());
}
