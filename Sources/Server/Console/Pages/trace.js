// The trace of a phone beside it, as it happens: each call with its arguments, its time, its answer and the line that explains it.

import { h } from './dom.js';
import { exactClock, t, tn } from './text.js';
import { addressOf } from './address.js';
import { describeEvent, explainEvent, kindOf, KINDS, messageOf, readResult } from './trace-words.js';

const ROWS = 300;
const DRAW_GAP = 250;
// More at once than a person can read: the newest are drawn and the others counted.
const FLOOD = 120;
const FLOOD_ROWS = 40;

export class TraceView {
  constructor(link) {
    this.link = link;
    // Who wants to know what iOS called is not helped by what the processes did.
    this.shown = new Set(['call', 'notice', 'push', 'fault']);
    this.counts = Object.fromEntries(KINDS.map((kind) => [kind, 0]));
    this.calls = new Map();
    this.events = new WeakMap();
    this.isFollowing = true;
    this.words = '';
    this.filters = new Map();
    this.list = h('ol.trace-list', { 'aria-label': t('phones.trace.label', { name: link.id }) });
    this.empty = h('p.trace-empty', t('phones.trace.empty'));
    this.room = h('div.trace-room', { tabindex: '0', role: 'region', 'aria-label': t('phones.trace.label', { name: link.id }),
      on: { scroll: () => this.noteScroll() } }, this.empty, this.list);
    this.newest = h('button.trace-newest', { type: 'button', hidden: true, on: { click: () => this.follow() } }, t('phones.trace.newest'));
    this.element = h('div.trace', this.makeHead(), this.room, this.newest);
    this.waiting = [];
    this.timer = null;
    link.addEventListener('lines', (event) => this.addSoon(event.detail));
    link.addEventListener('forget', () => this.clear());
    if (link.trace.length) this.add(link.trace);
  }

  makeHead() {
    const search = this.search = h('input.trace-search', {
      type: 'search', placeholder: t('phones.trace.search'), 'aria-label': t('phones.trace.search'),
      on: { input: (event) => { this.words = event.target.value.trim().toLowerCase(); this.filter(); } },
    });
    return h('div.trace-head',
      h('div.trace-filters', { role: 'group', 'aria-label': t('phones.trace.filter') }, KINDS.map((kind) => {
        const count = h('span.trace-count', '0');
        const button = h('button.trace-filter', {
          type: 'button', 'aria-pressed': String(this.shown.has(kind)), 'data-kind': kind, on: { click: () => this.toggle(kind) },
        }, h(`span.trace-shape.is-${kind}`, { 'aria-hidden': 'true' }), t(`phones.trace.kind.${kind}`), ' ', count);
        this.filters.set(kind, { button, count });
        return button;
      })),
      h('div.trace-find', search, h('button.phones-button.is-quiet', { type: 'button', on: { click: () => this.clear() } },
        t('phones.trace.clear'))));
  }

  /** Shows only lines with these words. */
  find(words) {
    this.search.value = words;
    this.words = words.toLowerCase();
    this.filter();
  }

  toggle(kind) {
    if (this.shown.has(kind)) this.shown.delete(kind);
    else this.shown.add(kind);
    this.filters.get(kind).button.setAttribute('aria-pressed', String(this.shown.has(kind)));
    this.filter();
  }

  isShown(row) {
    return this.shown.has(row.dataset.kind) && (!this.words || row.textContent.toLowerCase().includes(this.words));
  }

  filter() {
    for (const row of this.list.querySelectorAll('.trace-row')) row.hidden = !this.isShown(row);
    this.keepEnd();
  }

  clear() {
    this.list.replaceChildren();
    this.calls.clear();
    for (const kind of KINDS) this.counts[kind] = 0;
    this.showCounts();
    this.empty.hidden = false;
  }

  /** At once if it is quiet, else four times a second; of more than fits nothing is drawn. */
  addSoon(events) {
    this.waiting.push(...events);
    if (this.timer) return;
    const draw = () => {
      const events = this.waiting;
      this.waiting = [];
      // What is told of earlier comes at once, too, and is no flood.
      const isFlood = this.timer !== null && events.length > FLOOD && events.at(-1).wall - events[0].wall < 2_000;
      this.timer = events.length ? setTimeout(draw, DRAW_GAP) : null;
      if (events.length) this.add(events, isFlood ? FLOOD_ROWS : ROWS);
    };
    draw();
  }

  /** Puts lines at the end; whoever reads the end stays there. */
  add(events, most = ROWS) {
    const rows = document.createDocumentFragment();
    for (const event of events) this.counts[kindOf(event)] += 1;
    if (events.length > most) rows.append(h('li.trace-gap', tn('phones.trace.gap', events.length - most)));
    for (const event of events.slice(-most)) {
      if (event.event === 'completion') {
        this.answerCall(event);
        continue;
      }
      rows.append(this.makeRow(event));
    }
    this.list.append(rows);
    while (this.list.children.length > ROWS) this.forget(this.list.firstElementChild);
    this.empty.hidden = this.list.children.length > 0;
    this.showCounts();
    this.keepEnd();
  }

  forget(row) {
    const event = this.events.get(row);
    if (event?.event === 'callback' && this.calls.get(event.number)?.row === row) this.calls.delete(event.number);
    row.remove();
  }

  showCounts() {
    for (const [kind, { button, count }] of this.filters) {
      count.textContent = String(this.counts[kind]);
      button.classList.toggle('has-fault', kind === 'fault' && this.counts.fault > 0);
    }
  }

  makeRow(event) {
    const kind = kindOf(event);
    const { title, isCode, words } = describeEvent(event);
    const line = explainEvent(event);
    const time = new Date(event.wall);
    const row = h('li.trace-row', { 'data-kind': kind },
      h('time.trace-time', { datetime: time.toISOString(), title: time.toISOString() }, exactClock(event.wall)),
      h(`span.trace-shape.is-${kind}`, { role: 'img', 'aria-label': t(`phones.trace.kind.${kind}`) }),
      h('div.trace-words',
        h('div.trace-title', isCode ? h('code', title) : h('span', title), isCode ? this.makeState(event) : null,
          isCode || !words ? null : h('span.trace-arguments', h('bdi', words)), this.makeMessage(event)),
        isCode && words ? h('div.trace-arguments', h('bdi', words)) : null,
        line ? h('div.trace-line', line.text, line.section ? h('a.trace-section', {
          // In a tab of its own: whoever leaves this page loses what it recorded for a scenario.
          href: addressOf('phones', 'reference', line.section), target: '_blank', rel: 'noopener', title: 'docs/testing/ios-delivery.md',
          'aria-label': t('phones.trace.section', { section: line.section }),
        }, `§${line.section}`) : null) : null),
      h('button.trace-more', {
        type: 'button', 'aria-expanded': 'false', 'aria-label': t('phones.trace.details', { name: title }),
          title: t('phones.trace.detailsShort'),
        on: { click: (click) => this.toggleDetails(click.currentTarget, event) },
      }, '{ }'));
    this.events.set(row, event);
    if (event.event === 'callback') this.calls.set(event.number, { row, event });
    row.hidden = !this.isShown(row);
    return row;
  }

  /** Makes the link to the message's page, in a tab of its own, as the link to a section. */
  makeMessage(event) {
    const message = this.link.messagesOf ? messageOf(event) : null;
    return message ? h('a.trace-message', {
      href: addressOf('apps', this.link.messagesOf, 'messages', message), target: '_blank', rel: 'noopener', title: t('phones.trace.toMessage'),
      'aria-label': t('phones.trace.message', { id: message }),
    }, message) : null;
  }

  makeState(event) {
    if (event.role !== 'app') return h('span.trace-state.is-extension', t('phones.trace.extension'));
    return h(`span.trace-state.is-${event.state}`, { title: 'UIApplication.applicationState' }, t(`phones.trace.state.${event.state}`));
  }

  /** The whole event is written only for who asks. */
  toggleDetails(button, event) {
    const isOpen = button.getAttribute('aria-expanded') === 'true';
    button.setAttribute('aria-expanded', String(!isOpen));
    const words = button.parentElement.querySelector('.trace-words');
    if (isOpen) words.querySelector('pre').remove();
    else words.append(h('pre', { tabindex: '0', 'aria-label': button.getAttribute('aria-label') },
      JSON.stringify(event.event === 'callback' ? event.arguments : event, null, 2)));
  }

  answerCall(event) {
    const call = this.calls.get(event.number);
    const words = readResult(event);
    if (!call) return;
    const took = Math.max(0, event.wall - call.event.wall);
    call.row.querySelector('.trace-words').insertBefore(
      h('div.trace-answer', t('phones.trace.answer', { result: words, n: took })), call.row.querySelector('.trace-line, pre'));
  }

  noteScroll() {
    const { scrollTop, clientHeight, scrollHeight } = this.room;
    this.isFollowing = scrollTop + clientHeight > scrollHeight - 40;
    this.newest.hidden = this.isFollowing;
  }

  keepEnd() {
    if (this.isFollowing) this.room.scrollTop = this.room.scrollHeight;
  }

  follow() {
    this.isFollowing = true;
    this.newest.hidden = true;
    this.keepEnd();
  }
}
