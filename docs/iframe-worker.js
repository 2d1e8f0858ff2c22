// Browsers refuse workers to pages that are opened as files. There, the script of the search runs in a hidden frame, which it
// knows by the name IFrameWorker.
if (location.protocol === 'file:') {
    window.Worker = window.IFrameWorker = class extends EventTarget {
        constructor(url) {
            super();
            const frame = document.createElement('iframe');
            frame.hidden = true;
            document.body.append(frame);
            this.inside = frame.contentWindow;
            const load = src => new Promise((loaded, failed) => {
                const script = this.inside.document.createElement('script');
                Object.assign(script, { src, onload: loaded, onerror: failed });
                this.inside.document.head.append(script);
            });
            this.inside.importScripts = (...urls) => urls.reduce((before, each) => before.then(() => load(each)), Promise.resolve());
            this.inside.postMessage = data => this.dispatchEvent(new MessageEvent('message', { data }));
            this.ready = load(url);
        }

        postMessage(data) {
            this.ready.then(() => this.inside.dispatchEvent(new MessageEvent('message', { data })));
        }
    };
}
