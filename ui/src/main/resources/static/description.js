// Shows the description of REST. Nothing can be sent from here: REST does not accept the session of a browser.
const shown = document.getElementById('description');
SwaggerUIBundle({
    url: shown.dataset.url, domNode: shown, supportedSubmitMethods: [], validatorUrl: null,
    docExpansion: 'list', defaultModelsExpandDepth: 0, filter: true,
    syntaxHighlight: { activated: false },
});
