// What happens in an app, as it happens. One stream an app, whoever on the page asks for what; it comes back by itself.

/** Handlers get what has come at most four times a second, together. */
const BEAT = 250;
/** Of each type in a second; what is more nobody reads. */
const MOST = 10;
/** How long it is waited before the next try, longer each time. */
const RETRY_LEAST = 500;
const RETRY_MOST = 8_000;
/** Types that no page wants any more are asked for a little longer. */
const NARROW = 60_000;

export class LiveStream {
  constructor(app, onState, onRefused) {
    this.app = app;
    this.onState = onState;
    this.onRefused = onRefused;
    this.subscriptions = new Set();
    this.lastId = null;
    this.waiting = RETRY_LEAST;
    this.source = null;
    this.types = new Set();
    this.state = 'connecting';
    this.isClosed = false;
  }

  /**
   * Calls `handler` with lists of `{type, data}`; `onReset` when something may have been missed and has to be loaded anew; `onPassedOver` with how
   * many of each type were not told, because there are more than anybody reads. Returns what ends it.
   */
  subscribe(types, handler, onReset = () => {}, onPassedOver = () => {}) {
    const subscription = { types: new Set(types), handler, onReset, onPassedOver, gathered: [] };
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
    clearTimeout(this.narrowing);
    clearTimeout(this.beat);
    this.source?.close();
    this.subscriptions.clear();
  }

  /**
   * More types are asked for as soon as a page wants them; fewer only once none has for a minute. Each new stream counts among the ten that
   * the server has for an app until it notices that the one before is gone.
   */
  _reopenSoon() {
    if (this.isClosed) return;
    const wanted = () => new Set([...this.subscriptions].flatMap((each) => [...each.types]));
    clearTimeout(this.reopening);
    if (this.source && [...wanted()].some((type) => !this.types.has(type))) this._tell('connecting');
    this.reopening = setTimeout(() => {
      if (!this.source || [...wanted()].some((type) => !this.types.has(type))) this._open(wanted());
    }, 30);
    clearTimeout(this.narrowing);
    this.narrowing = setTimeout(() => {
      if (wanted().size < this.types.size) this._open(wanted());
    }, NARROW);
  }

  _open(types = this.types) {
    this.source?.close();
    clearTimeout(this.retrying);
    this.types = types;
    if (this.isClosed || !types.size) return;
    // What is asked for anew is not told before the new stream is open.
    if (this.state === 'live') this._tell('connecting');
    const query = new URLSearchParams({ types: [...types].sort().join(','), at_most: MOST });
    if (this.lastId) query.set('last_event_id', this.lastId);
    const source = new EventSource(`/v1/apps/${encodeURIComponent(this.app)}/events?${query}`);
    this.source = source;
    const isFresh = !this.lastId;
    source.onopen = () => {
      if (source !== this.source) return;
      // What happened while it was being opened, nobody has told.
      if (isFresh) for (const each of this.subscriptions) each.onReset();
      this.waiting = RETRY_LEAST;
      this._tell('live');
    };
    source.onerror = () => {
      if (source !== this.source) return;
      this._tell(navigator.onLine === false ? 'offline' : 'reconnecting');
      // The browser comes back by itself where the connection was cut; after an answer that is no stream it gives up, and this does not.
      if (source.readyState === EventSource.CLOSED) {
        // It does not say why; perhaps nobody is signed in any more.
        this.onRefused();
        this.retrying = setTimeout(() => this._open(), this.waiting);
        this.waiting = Math.min(this.waiting * 2, RETRY_MOST);
      }
    };
    for (const type of types) source.addEventListener(type, (event) => this._take(type, event));
    source.addEventListener('passed_over', (event) => {
      if (event.lastEventId) this.lastId = event.lastEventId;
      const counts = JSON.parse(event.data);
      for (const each of this.subscriptions) each.onPassedOver(counts);
    });
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
