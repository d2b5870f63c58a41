// Messages: find one, and see what happens to them as it happens.

import { h } from './dom.js';
import { api, path } from './api.js';
import { t, tn, number, exactClock, dateTime } from './text.js';
import { addressOf, go, replaceAddress } from './router.js';
import { pageHead, card, table, field, textInput, select, button, idChip, emptyState, personLink, chip, tabs, strangerText, note, roleNote, pagedList } from './widgets.js';
import { may } from './session.js';
import { ENDS, WAITS, endKind, endWord } from './legs.js';
import { findLegs, whySilent } from './legs-search.js';
import { LEG_TYPES, keep } from './memory.js';

/** So many messages are kept to look through, and so many shown. */
const KEPT = 2_000;
const SHOWN = 60;
const ID = /^[0-9a-hjkmnp-tv-z]{13}$/;

export function conversationLink(app, conversation) {
  if (!conversation) return '–';
  const words = [t(`kind.${conversation.type}`), ' ', h('bdi', conversation.target)];
  return h('a', { href: addressOf('apps', app, 'conversations', conversation.type, conversation.target) }, words);
}

/** The text of a content, where it has one that is read. */
export function readContent(message) {
  try {
    const content = JSON.parse(message.content);
    return typeof content.content === 'string' ? content.content : null;
  } catch {
    return null;
  }
}

function findById(app) {
  const input = textInput({ class: 'mono', required: true, maxlength: 26, inputmode: 'latin', name: 'message' });
  const entry = field({ label: t('messages.id'), hint: t('messages.idHint'), input });
  return h('form.form-row', {
    novalidate: true, role: 'search', 'aria-label': t('messages.byId'),
    on: {
      submit: (event) => {
        event.preventDefault();
        const id = input.value.trim().toLowerCase();
        entry.fail(ID.test(id) ? '' : t('messages.idWrong'));
        if (ID.test(id)) go(addressOf('apps', app, 'messages', id));
        else input.focus();
      },
    },
  }, entry, button({ label: t('messages.open'), kind: 'primary', iconName: 'search', type: 'submit' }));
}

function findByText(page) {
  const { app, signal } = page;
  const results = h('div', { 'aria-live': 'polite' });
  const text = textInput({ required: true, name: 'text', spellcheck: 'true' });
  const user = textInput({ name: 'user' });
  const since = h('input', { type: 'datetime-local', name: 'since' });
  const until = h('input', { type: 'datetime-local', name: 'until' });
  const entry = field({ label: t('messages.text'), hint: t('messages.textHint'), input: text, wide: true });
  const makeTable = (messages) => table({
    caption: t('messages.found'),
    columns: [
      { label: t('message.text'), cell: (row) => strangerText(readContent(row) ?? row.object_name) },
      { label: t('message.id'), cell: (row) => idChip(row.message_id, { href: addressOf('apps', app, 'messages', row.message_id) }) },
      { label: t('frame.time'), cell: (row) => dateTime(row.sent_at) },
      { label: t('message.sender'), cell: (row) => personLink(app, row.sender) },
      { label: t('message.conversation'), cell: (row) => conversationLink(app, row.conversation) },
    ],
    rows: messages,
    empty: emptyState({ title: t('messages.noneFound'), text: t('messages.noneFoundText') }),
  });
  const form = h('form.form', {
    novalidate: true, role: 'search', 'aria-label': t('messages.byText'),
    on: {
      submit: (event) => {
        event.preventDefault();
        entry.fail(text.value.trim() ? '' : t('messages.textMissing'));
        if (!text.value.trim() || !may('content')) return;
        const query = {
          text: text.value.trim(), user: user.value.trim(),
          since: since.value ? new Date(since.value).getTime() : '', until: until.value ? new Date(until.value).getTime() : '',
        };
        const behind = h('div');
        results.replaceChildren(behind, pagedList(signal, async (cursor) => {
          const answer = await api.get(path`/v1/apps/${app}/messages`, { ...query, cursor }, { signal });
          if (answer.behind) behind.replaceChildren(note('wait', h('p', t('messages.behind'))));
          return { items: answer.messages, next: answer.next };
        }, makeTable));
      },
    },
  }, entry, field({ label: t('messages.user'), input: user, optional: true }), field({ label: t('messages.since'), input: since, optional: true }),
  field({ label: t('messages.until'), input: until, optional: true }),
  h('div.form-row', button({ label: t('messages.search'), kind: 'primary', iconName: 'eye', type: 'submit', role: 'content' })));
  return [h('p.quiet', t('messages.textLead')), form, roleNote('content'), results];
}

/** What is known of one message that was seen: where it is for each device. */
function takeEvent(kept, { type, data }) {
  if (!data.message_id) return;
  let message = kept.get(data.message_id);
  if (!message) {
    message = { id: data.message_id, at: data.at, sender: data.sender, conversation: data.conversation, kind: data.kind, legs: new Map() };
    kept.set(data.message_id, message);
    if (kept.size > KEPT) kept.delete(kept.keys().next().value);
  }
  if (type === 'message_accepted') Object.assign(message, { sender: data.sender, conversation: data.conversation, at: data.at, kind: data.kind });
  if (type === 'message_recalled') message.isRecalled = true;
  if (!data.user || type === 'push_answered') return;
  const key = `${data.user} ${data.device ?? ''}`;
  const leg = message.legs.get(key) ?? { user: data.user, device: data.device };
  if (type === 'leg_sent') Object.assign(leg, { wait: 'in_flight' });
  if (type === 'leg_waiting') Object.assign(leg, { wait: data.wait });
  if (type === 'leg_ended') Object.assign(leg, { end: data.end, detail: data.detail });
  if (type === 'receipt') leg.receipt = data.receipt;
  message.legs.set(key, leg);
}

/** The deliveries of a message, counted by their state. */
function legChips(message) {
  const counts = new Map();
  for (const leg of message.legs.values()) {
    const key = leg.end ? `end.${leg.end}` : `wait.${leg.wait}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  if (!counts.size) return h('span.quiet', '–');
  return h('span.chips', [...counts].map(([key, count]) => {
    const [what, name] = key.split('.');
    const kind = what === 'end' ? endKind(name) : 'wait';
    return chip(kind, `${what === 'end' ? endWord(name) : t(key)}${count > 1 ? ` × ${number(count)}` : ''}`);
  }));
}

function liveCard(page) {
  const { app, query } = page;
  const kept = new Map();
  let seen = 0;
  let isPaused = false;
  const list = h('div');
  const counter = h('p.quiet', { 'aria-live': 'off' });
  const user = textInput({ value: query.user ?? '', name: 'live-user' });
  const states = [['', t('messages.anyState')], ['open', t('messages.waiting')], ['bad', t('messages.failed')],
    ...WAITS.map((wait) => [`wait.${wait}`, `◐ ${t(`wait.${wait}`)}`]), ...ENDS.map((end) => [`end.${end}`, t(`end.${end}`)])];
  const state = select(states, query.state ?? '', { name: 'live-state' });
  const fits = (message) => {
    const wanted = user.value.trim();
    const legs = [...message.legs.values()].filter((leg) => !wanted || leg.user === wanted || leg.device === wanted);
    if (wanted && !legs.length && message.sender !== wanted) return false;
    const which = state.value;
    if (!which) return true;
    if (which === 'open') return legs.some((leg) => !leg.end);
    if (which === 'bad') return legs.some((leg) => leg.end && endKind(leg.end, leg.detail) === 'bad');
    return legs.some((leg) => (leg.end ? `end.${leg.end}` : `wait.${leg.wait}`) === which);
  };
  const show = () => {
    if (list.contains(document.activeElement) && document.activeElement !== document.body) return;
    const rows = [...kept.values()].reverse().filter(fits).slice(0, SHOWN);
    counter.textContent = tn('messages.seen', seen);
    counter.hidden = !seen;
    list.replaceChildren(table({
      caption: t('messages.live'),
      columns: [
        { label: t('message.id'), cell: (row) => idChip(row.id, { href: addressOf('apps', app, 'messages', row.id) }) },
        { label: t('frame.time'), cell: (row) => exactClock(row.at) },
        { label: t('message.sender'), cell: (row) => (row.sender ? personLink(app, row.sender) : '–') },
        { label: t('message.conversation'), cell: (row) => conversationLink(app, row.conversation) },
        { label: t('messages.deliveries'), cell: (row) => [row.isRecalled ? chip('quiet', t('message.recalled')) : null, legChips(row)] },
      ],
      rows,
      empty: emptyState({
        title: t(kept.size ? 'messages.noneFits' : 'messages.liveEmpty'), text: t(kept.size ? 'messages.noneFitsText' : 'messages.liveEmptyText'),
        action: kept.size ? null : button({ label: t('pushes.newMessage'), href: addressOf('apps', app, 'pushes', 'new', { what: 'message' }) }),
      }),
    }));
  };
  const filter = () => {
    replaceAddress(addressOf('apps', app, 'messages', { user: user.value.trim(), state: state.value }));
    show();
  };
  user.addEventListener('input', filter);
  state.addEventListener('change', filter);
  const pause = button({
    label: t('messages.pause'),
    onClick: () => {
      isPaused = !isPaused;
      pause.querySelector('span').textContent = t(isPaused ? 'messages.goOn' : 'messages.pause');
      pause.setAttribute('aria-pressed', String(isPaused));
      if (!isPaused) show();
    },
  });
  page.live(LEG_TYPES, (events) => {
    for (const event of events) {
      if (event.type === 'message_accepted') seen += 1;
      takeEvent(kept, event);
    }
    keep(events.slice(-300));
    if (!isPaused) show();
  }, undefined, (counts) => { seen += counts.message_accepted ?? 0; });
  show();
  return card({ title: t('messages.live'), lead: t('messages.liveLead') },
    h('div.form-row', field({ label: t('messages.filterUser'), input: user }), field({ label: t('frame.state'), input: state }), pause), counter, list);
}

export default async function open(page) {
  page.setTitle(t('nav.messages'));
  page.root.append(
    pageHead({ title: t('nav.messages'), lead: t('messages.lead') }),
    card({ title: t('messages.find') }, tabs({
      label: t('messages.find'), chosen: page.query.find,
      tabs: [
        ['id', t('messages.byId'), () => findById(page.app)],
        ['person', t('person.why'), () => whySilent(page)],
        ['legs', t('messages.byDelivery'), () => findLegs(page)],
        ['text', t('messages.byText'), () => findByText(page)],
      ],
    })),
    liveCard(page));
}

