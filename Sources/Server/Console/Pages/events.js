// What happens in an app, as it happens. One stream an app, whoever on the page asks for what; it comes back by itself.

/** Handlers get what has come at most four times a second, together. */
const BEAT = 250;
/** After this long without a word, of which the server says one every 15 seconds, the connection is thought lost. */
const RETRY_LEAST = 500;
const RETRY_MOST = 8_000;

export class LiveStream {
  constructor(app, onState) {
    this.app = app;
    this.onState = onState;
    this.subscriptions = new Set();
    this.lastId = null;
    this.waiting = RETRY_LEAST;
    this.source = null;
    this.types = '';
    this.state = 'connecting';
    this.isClosed = false;
  }

  /** Calls `handler` with lists of `{type, data}`; `onReset` when something was missed and has to be loaded anew. Returns what ends it. */
  subscribe(types, handler, onReset = () => {}) {
    const subscription = { types: new Set(types), handler, onReset, gathered: [] };
    this.subscriptions.add(subscription);
    this._reopenSoon();
    return () => {
      this.subscriptions.delete(subscription);
      this._reopenSoon();
    };
  }

  close() {
    this.isClosed = true;
    clearTimeout(this.reopening);
    clearTimeout(this.retrying);
    clearTimeout(this.beat);
    this.source?.close();
    this.subscriptions.clear();
  }

  /** A page that comes and goes changes what is asked for; one that goes to the next one does not open the stream twice. */
  _reopenSoon() {
    if (this.isClosed) return;
    clearTimeout(this.reopening);
    this.reopening = setTimeout(() => {
      const types = [...new Set([...this.subscriptions].flatMap((each) => [...each.types]))].sort().join(',');
      if (types !== this.types || !this.source) {
        this.types = types;
        this._open();
      }
    }, 30);
  }

  _open() {
    this.source?.close();
    clearTimeout(this.retrying);
    if (this.isClosed || !this.types) return;
    const query = new URLSearchParams({ types: this.types });
    if (this.lastId) query.set('last_event_id', this.lastId);
    const source = new EventSource(`/v1/apps/${encodeURIComponent(this.app)}/events?${query}`);
    this.source = source;
    source.onopen = () => {
      this.waiting = RETRY_LEAST;
      this._tell('live');
    };
    source.onerror = () => {
      if (source !== this.source) return;
      this._tell(navigator.onLine === false ? 'offline' : 'reconnecting');
      // The browser comes back by itself where the connection was cut; after an answer that is no stream it gives up, and this does not.
      if (source.readyState === EventSource.CLOSED) {
        this.source = null;
        this.retrying = setTimeout(() => this._open(), this.waiting);
        this.waiting = Math.min(this.waiting * 2, RETRY_MOST);
      }
    };
    for (const type of this.types.split(',')) source.addEventListener(type, (event) => this._take(type, event));
    source.addEventListener('reset', (event) => {
      this.lastId = event.lastEventId || null;
      for (const each of this.subscriptions) each.onReset();
    });
  }

  _take(type, event) {
    if (event.lastEventId) this.lastId = event.lastEventId;
    let data = null;
    for (const each of this.subscriptions) {
      if (!each.types.has(type)) continue;
      data ??= { type, id: event.lastEventId, data: JSON.parse(event.data) };
      each.gathered.push(data);
    }
    this.beat ??= setTimeout(() => this._flush(), BEAT);
  }

  _flush() {
    this.beat = undefined;
    for (const each of [...this.subscriptions]) {
      if (!each.gathered.length) continue;
      const gathered = each.gathered;
      each.gathered = [];
      each.handler(gathered);
    }
  }

  _tell(state) {
    if (this.state === state) return;
    const before = this.state;
    this.state = state;
    this.onState(state, before);
  }
}
