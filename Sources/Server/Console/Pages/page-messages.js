// Messages: the newest, as they happen; one field that finds a message, a person or words; why somebody's phones were silent; deliveries.

import { h } from './dom.js';
import { api, path } from './api.js';
import { t, tn, dateTime } from './text.js';
import { addressOf, go, replaceAddress } from './address.js';
import { timeOf, pageHead, card, table, field, textInput, select, checkbox, button, emptyState, personLink, tabs, strangerText, note, roleNote, pagedList, problemBox, skeleton } from './widgets.js';
import { may } from './session.js';
import { ENDS, WAITS } from './legs.js';
import { findLegs, whySilent } from './legs-search.js';
import { conversationLink, readContent } from './links.js';
import { LEG_TYPES, keep } from './memory.js';
import { MessageList, messageLines, knowDevicesOf, hasState, nothingFits } from './message-list.js';

/** So many messages are shown. */
const SHOWN = 50;
/** So many pages of deliveries are asked for until there are that many: some are of one message. */
const PAGES = 4;
const ID = /^[0-9a-hjkmnp-tv-z]{13}$/;

/** Returns whether the server knows a person of this id: it answers of anybody. */
async function isPerson(app, user, signal) {
  if (/\s/.test(user) || new TextEncoder().encode(user).length > 64) return false;
  try {
    const [person, { devices }] = await Promise.all([
      api.get(path`/v1/apps/${app}/users/${user}`, null, { signal }), api.get(path`/v1/apps/${app}/users/${user}/devices`, { limit: 1 }, { signal }),
    ]);
    return Boolean(devices.length || person.name || person.banned || person.head);
  } catch (problem) {
    if (problem.name === 'AbortError') throw problem;
    return false;
  }
}

/** Messages by what they say, page by page. Who asks is kept by the audit. */
function textResults({ app, signal }, asked) {
  const behind = h('div');
  const makeTable = (messages) => table({
    caption: t('messages.found'),
    columns: [
      { label: t('message.text'), cell: (row) => strangerText(readContent(row) ?? row.object_name) },
      { label: t('frame.time'), cell: (row) => h('a', { href: addressOf('apps', app, 'messages', row.message_id), title: row.message_id }, dateTime(row.sent_at)) },
      { label: t('message.sender'), cell: (row) => personLink(app, row.sender) },
      { label: t('message.conversation'), cell: (row) => conversationLink(app, row.conversation) },
    ],
    rows: messages,
    empty: emptyState({ title: t('messages.noneFound'), text: t('messages.noneFoundText') }),
  });
  return [behind, pagedList(signal, async (cursor) => {
    const answer = await api.get(path`/v1/apps/${app}/messages`, { ...asked, cursor }, { signal });
    if (answer.behind) behind.replaceChildren(note('wait', h('p', t('messages.behind'))));
    return { items: answer.messages, next: answer.next };
  }, makeTable)];
}

/** The one field: an id leads to its message, a person to their messages, anything else is searched for in what messages say. */
function finder(page, showPerson) {
  const { app, signal } = page;
  const results = h('div.stack', { 'aria-live': 'polite' });
  const input = textInput({ name: 'find', type: 'search', required: true, value: page.query.user ?? '' });
  const entry = field({ label: t('messages.find'), hint: t('messages.findHint'), input });
  const since = h('input', { type: 'datetime-local', name: 'since' });
  const until = h('input', { type: 'datetime-local', name: 'until' });
  const period = h('div.form', { hidden: true }, field({ label: t('messages.since'), input: since, optional: true }), field({ label: t('messages.until'), input: until, optional: true }));
  /** The text that was searched for as words: the same again is not a person. */
  let asWords = null;
  const close = () => {
    asWords = null;
    results.replaceChildren();
    period.hidden = true;
    input.value = '';
    showPerson('');
    input.focus();
  };
  const searchTexts = (text) => {
    asWords = text;
    showPerson('');
    period.hidden = false;
    results.replaceChildren(...(may('content') ? textResults(page, { text, since: timeOf(since), until: timeOf(until) }) : [roleNote('content')]),
      h('div.actions', button({ label: t('messages.toNewest'), onClick: close })));
  };
  const showActions = (user) => results.replaceChildren(h('div.actions',
    h('span', t('messages.ofPerson'), ' ', h('strong', personLink(app, user))),
    button({ label: t('person.why'), href: addressOf('apps', app, 'messages', { find: 'person', person: user }) }),
    button({ label: t('messages.asWords'), iconName: 'eye', role: 'content', onClick: () => searchTexts(user) }),
    button({ label: t('messages.toNewest'), onClick: close })));
  if (page.query.user) showActions(page.query.user);
  const submit = button({ label: t('messages.search'), kind: 'primary', iconName: 'search', type: 'submit' });
  const form = h('form.stack', {
    novalidate: true, role: 'search', 'aria-label': t('messages.find'),
    on: {
      submit: async (event) => {
        event.preventDefault();
        const text = input.value.trim();
        entry.fail(text ? '' : t('messages.findMissing'));
        if (!text) return input.focus();
        if (ID.test(text.toLowerCase())) return go(addressOf('apps', app, 'messages', text.toLowerCase()));
        submit.setAttribute('aria-busy', 'true');
        try {
          if (text !== asWords && await isPerson(app, text, signal)) {
            period.hidden = true;
            showPerson(text);
            showActions(text);
          } else searchTexts(text);
        } catch (problem) {
          if (problem.name !== 'AbortError') results.replaceChildren(problemBox(problem));
        } finally { submit.removeAttribute('aria-busy'); }
        return undefined;
      },
    },
  }, h('div.form-row', entry, submit), period);
  return [form, results];
}

/** The newest messages, each in a line, and those that come while somebody looks. */
function newest(page) {
  const { app, query, signal } = page;
  const list = new MessageList();
  let seen = 0;
  let user = query.user ?? '';
  let isPaused = false;
  let isLoaded = false;
  const box = h('div', skeleton(8));
  const hiddenCount = h('span.quiet');
  const counter = h('p.quiet', { 'aria-live': 'off' });
  const states = [['', t('messages.anyState')], ['open', t('messages.waiting')], ['bad', t('messages.failed')],
    ...WAITS.map((wait) => [`wait.${wait}`, `◐ ${t(`wait.${wait}`)}`]), ...ENDS.map((end) => [`end.${end}`, t(`end.${end}`)])];
  const state = select(states, query.state ?? '', { name: 'state' });
  const filler = checkbox(t('messages.withFiller'), false, { name: 'filler' });
  const fits = (message, legs) => hasState(legs, state.value)
    && (!user || message.sender === user || [...message.legs.values()].some((leg) => leg.user === user));
  const rowsNow = () => list.rows({ most: SHOWN, fits, withFiller: filler.input.checked, user });
  const show = () => {
    if (!isLoaded || (box.contains(document.activeElement) && document.activeElement !== document.body)) return;
    const { rows, hidden } = rowsNow();
    counter.textContent = tn('messages.seen', seen);
    counter.hidden = !seen;
    hiddenCount.textContent = hidden && !filler.input.checked ? tn('messages.hidden', hidden) : '';
    box.replaceChildren(rows.length ? messageLines(app, rows, t('messages.newest'))
      : nothingFits(list.messages.size > 0, button({ label: t('pushes.newMessage'), href: addressOf('apps', app, 'pushes', 'new', { what: 'message' }) })));
  };
  const load = async () => {
    const asked = user;
    try {
      const legs = path`/v1/apps/${app}/legs`;
      // Without a person the server finds those that have ended and those that are open by themselves.
      const kinds = asked ? [{ user: asked }] : [{ state: 'open' }, {}];
      for (const kind of kinds) {
        let cursor = null;
        for (let turn = 0; turn < (kind.state ? 1 : PAGES); turn += 1) {
          const answer = await api.get(legs, { ...kind, limit: 100, cursor }, { signal });
          if (asked !== user) return;
          list.takeLegs(answer.legs);
          cursor = answer.next;
          if (!cursor || rowsNow().rows.length >= SHOWN) break;
        }
      }
      await knowDevicesOf(app, rowsNow().rows);
      isLoaded = true;
      show();
    } catch (problem) {
      if (problem.name !== 'AbortError') box.replaceChildren(problemBox(problem, load));
    }
  };
  const filter = () => {
    replaceAddress(addressOf('apps', app, 'messages', { user, state: state.value }));
    show();
  };
  state.addEventListener('change', filter);
  filler.input.addEventListener('change', show);
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
      list.takeEvent(event);
    }
    keep(events.slice(-300));
    if (!isPaused) show();
  }, load, (counts) => { seen += counts.message_accepted ?? 0; });
  load();
  return {
    element: h('div.stack', h('div.form-row.message-filters', field({ label: t('frame.state'), input: state }), pause, filler, hiddenCount), counter, box),
    /** Shows the messages of one person, or everybody's. */
    showPerson: (other) => {
      if (other === user) return;
      user = other;
      filter();
      load();
    },
  };
}

export default async function open(page) {
  page.setTitle(t('nav.messages'));
  let lines = null;
  const newestTab = () => {
    // Its stream and what it has seen stay while another tab is looked at.
    lines ??= newest(page);
    return lines.element;
  };
  const parts = tabs({
    label: t('nav.messages'), chosen: page.query.find,
    tabs: [
      ['newest', t('messages.newest'), newestTab],
      ['person', t('person.why'), () => whySilent(page)],
      ['legs', t('messages.byDelivery'), () => findLegs(page)],
    ],
  });
  const [form, results] = finder(page, (user) => {
    if (user || lines) parts.choose('newest');
    lines?.showPerson(user);
  });
  page.root.append(
    pageHead({ title: t('nav.messages'), lead: t('messages.lead') }),
    card({ className: 'message-find' }, form, results),
    card({}, parts));
}
