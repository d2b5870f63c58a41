// The search for deliveries, and the answer to "why silent?" that is made of it.

import { h, bdi, shape } from './dom.js';
import { api, path } from './api.js';
import { t, tn, duration, clock, exactClock, date, dateTime } from './text.js';
import { addressOf } from './address.js';
import { timeOf, table, field, textInput, select, button, emptyState, personLink, pagedList, problemBox, disclosure } from './widgets.js';
import { ENDS, WAITS, legChip, sentences, wasSilent, remedy } from './legs.js';
import { deviceLink } from './devices.js';
import { conversationLink } from './links.js';

const WINDOWS = [['600000', 'why.window.minutes'], ['3600000', 'why.window.hour'], ['21600000', 'why.window.hours'], ['86400000', 'why.window.day']];
/** Before the wait, in the choice of states: an end may have its name. */
const WAIT = 'wait:';
/** So many sentences at most: who asks about one time does not read more. */
const SENTENCES = 50;

/** The time of today, else the day with it. */
function timeWords(ms) {
  return h('time', { datetime: new Date(ms).toISOString(), title: dateTime(ms) }, date(ms) === date(Date.now()) ? clock(ms) : dateTime(ms));
}

/** Says what the state does not: a reason, or since when. The apns-id of an accepted push stands on the message's page. */
function detailWords({ end, detail }) {
  if (!detail || ['accepted', 'settled'].includes(end) && !detail.startsWith('suppressed')) return '–';
  return end === 'token_dead' && Number(detail) ? dateTime(Number(detail)) : bdi(detail);
}

function legsTable(app, legs) {
  return table({
    caption: t('legs.found'),
    columns: [
      { label: t('message.id'), className: 'one-line', cell: (row) => h('a', { href: addressOf('apps', app, 'messages', row.message_id) }, h('code', row.message_id)) },
      { label: t('frame.time'), className: 'one-line', cell: (row) => timeWords(row.sent_at) },
      { label: t('legs.to'), cell: (row) => [personLink(app, row.user), row.device ? [h('span.quiet', ' · '), deviceLink(app, row.user, row.device)] : null] },
      { label: t('frame.state'), cell: (row) => legChip(row) },
      { label: t('legs.after'), className: 'one-line', cell: (row) => (row.at ? duration(row.at - row.sent_at) : '–') },
      { label: t('message.detail'), cell: detailWords },
    ],
    rows: legs,
    empty: emptyState({ title: t('legs.none'), text: t('legs.noneText') }),
  });
}

/** The tab: by person, device, state, reason and time, page by page. */
export function findLegs(page) {
  const { app, signal, query } = page;
  const user = textInput({ name: 'legs-user', value: query.to ?? '' });
  const device = textInput({ name: 'legs-device', value: query.device ?? '' });
  const reason = textInput({ name: 'legs-reason', value: query.reason ?? '' });
  const state = select([['', t('messages.anyState')], ['open', t('messages.waiting')], ['ended', t('legs.ended')],
    ...ENDS.map((end) => [end, t(`end.${end}`)]), ...WAITS.map((wait) => [`${WAIT}${wait}`, `◐ ${t(`wait.${wait}`)}`])], query.wait ? `${WAIT}${query.wait}` : query.end ?? '', { name: 'legs-state' });
  const since = h('input', { type: 'datetime-local', name: 'legs-since' });
  const until = h('input', { type: 'datetime-local', name: 'legs-until' });
  const entry = field({ label: t('legs.user'), hint: t('legs.userHint'), input: user, optional: true });
  const results = h('div', { 'aria-live': 'polite' });
  const search = () => {
    const isWait = state.value.startsWith(WAIT);
    const asked = {
      user: user.value.trim(), device: device.value.trim(), state: isWait ? '' : state.value, wait: isWait ? state.value.slice(WAIT.length) : '', reason: reason.value.trim(), since: timeOf(since), until: timeOf(until),
    };
    results.replaceChildren(pagedList(signal, async (cursor) => {
      const answer = await api.get(path`/v1/apps/${app}/legs`, { ...asked, cursor }, { signal });
      return { items: answer.legs, next: answer.next };
    }, (legs) => legsTable(app, legs)));
  };
  const form = h('form.form', {
    novalidate: true, role: 'search', 'aria-label': t('messages.byDelivery'),
    on: {
      submit: (event) => {
        event.preventDefault();
        // People without a device are found by person alone.
        const isMissing = state.value === 'no_device' && !user.value.trim();
        entry.fail(isMissing ? t('legs.userMissing') : '');
        if (isMissing) user.focus();
        else search();
      },
    },
  }, entry, field({ label: t('device.id'), input: device, optional: true }), field({ label: t('frame.state'), input: state }),
  field({ label: t('legs.reason'), hint: t('legs.reasonHint'), input: reason, optional: true }),
  field({ label: t('messages.since'), input: since, optional: true }), field({ label: t('messages.until'), input: until, optional: true }),
  h('div.form-row', button({ label: t('legs.search'), kind: 'primary', iconName: 'search', type: 'submit' })));
  if (query.to || query.device || query.reason || query.end || query.wait) search();
  return [h('p.quiet', t('legs.lead')), form, results];
}

function sentencesList(app, legs) {
  return h('ul.lanes', legs.map((leg) => {
    const advice = remedy(leg);
    const parts = sentences(app, leg);
    return h('li.lane',
      h('div.lane-head',
        h('span', h('a.mono', { href: addressOf('apps', app, 'messages', leg.message_id), title: leg.message_id },
          h('time', { datetime: new Date(leg.sent_at).toISOString(), title: dateTime(leg.sent_at) }, exactClock(leg.sent_at))),
          leg.sender ? [' · ', personLink(app, leg.sender)] : null, leg.conversation ? [' · ', conversationLink(app, leg.conversation)] : null),
        legChip(leg)),
      h('p.lane-sentence', parts.map((part, index) => [index ? ' ' : null, part])),
      advice ? h('p.lane-advice', advice) : null);
  }));
}

/** Says how many messages were silent, then why, those first; what rang is folded away. */
function answerView(app, legs) {
  const silent = legs.filter(wasSilent);
  const others = legs.filter((leg) => !wasSilent(leg));
  const count = (some) => new Set(some.map((leg) => leg.message_id)).size;
  const rest = others.length ? disclosure(tn('why.rest', others.length), sentencesList(app, others)) : null;
  return h('div.stack',
    h('p.count', shape(silent.length ? 'wait' : 'good'), ' ', h('strong', tn('why.summary', count(legs), { silent: silent.length ? tn('why.silent', count(silent)) : t('why.noneSilent') }))),
    silent.length ? sentencesList(app, silent) : null, rest);
}

/** The messages from others on their way to a person around a time, the nearest to it first. */
async function legsAround({ app, signal }, user, at, window) {
  const found = [];
  let cursor = null;
  do {
    const answer = await api.get(path`/v1/apps/${app}/legs`, { user, since: Math.max(0, at - window), until: at + window, limit: 100, cursor }, { signal });
    found.push(...answer.legs.filter((leg) => leg.sender !== user));
    cursor = answer.next;
  } while (cursor && found.length < 1_000);
  return found.sort((a, b) => Math.abs(a.sent_at - at) - Math.abs(b.sent_at - at)).slice(0, SENTENCES);
}

/** "Why silent?": takes a person and a time, and answers in sentences, one for each message and device. `known` is the person, if that is clear. */
export function whySilent(page, known = null) {
  const user = textInput({ required: true, name: 'why-user', value: page.query?.person ?? '' });
  const at = h('input', { type: 'datetime-local', name: 'why-at', step: '1' });
  const window = select(WINDOWS.map(([value, key]) => [value, t(key)]), '3600000', { name: 'why-window' });
  const entry = field({ label: t('messages.person'), input: user });
  const list = h('div', { 'aria-live': 'polite' });
  const submit = button({ label: t('person.whyAsk'), kind: 'primary', iconName: 'search', type: 'submit' });
  const form = h('form.form-row', {
    novalidate: true, role: 'search', 'aria-label': t('person.why'),
    on: {
      submit: async (event) => {
        event.preventDefault();
        const who = known ?? user.value.trim();
        entry.fail(who ? '' : t('messages.personMissing'));
        if (!who) return user.focus();
        submit.setAttribute('aria-busy', 'true');
        try {
          const legs = await legsAround(page, who, timeOf(at) || Date.now(), Number(window.value));
          list.replaceChildren(legs.length ? answerView(page.app, legs) : emptyState({ title: t('person.noLegs'), text: t('person.noLegsText') }));
        } catch (problem) {
          if (problem.name !== 'AbortError') list.replaceChildren(problemBox(problem));
        } finally { submit.removeAttribute('aria-busy'); }
        return undefined;
      },
    },
  }, known ? null : entry, field({ label: t('why.at'), hint: t('why.atHint', { zone: Intl.DateTimeFormat().resolvedOptions().timeZone }), input: at, optional: true }), field({ label: t('why.window'), input: window }), submit);
  return [h('p.quiet', t('person.whyLead')), form, list];
}
