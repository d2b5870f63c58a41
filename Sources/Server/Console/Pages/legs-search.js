// The search for deliveries, and the answer to "why silent?" that is made of it.

import { h, bdi } from './dom.js';
import { api, path } from './api.js';
import { t, duration, exactClock, dateTime } from './text.js';
import { addressOf } from './router.js';
import { table, field, textInput, select, button, idChip, emptyState, personLink, pagedList, problemBox } from './widgets.js';
import { ENDS, WAITS, endChip, waitChip, sentence, waitsSentence, remedy } from './legs.js';
import { conversationLink } from './page-messages.js';

const WINDOWS = [['600000', 'why.window.minutes'], ['3600000', 'why.window.hour'], ['21600000', 'why.window.hours'], ['86400000', 'why.window.day']];
/** Before the wait, in the choice of states: an end may have its name. */
const WAIT = 'wait:';
/** So many sentences at most: who asks about one time does not read more. */
const SENTENCES = 50;

/** What the phone said later, in the form that sentences read. */
function receiptsOf(leg) {
  return ['shown', 'opened'].filter((receipt) => leg[`${receipt}_at`]).map((receipt) => ({ receipt, at: leg[`${receipt}_at`] }));
}

function timeOf(input) {
  return input.value ? new Date(input.value).getTime() : '';
}

function legsTable(app, legs) {
  return table({
    caption: t('legs.found'),
    columns: [
      { label: t('message.id'), cell: (row) => idChip(row.message_id, { href: addressOf('apps', app, 'messages', row.message_id) }) },
      { label: t('frame.time'), cell: (row) => dateTime(row.sent_at) },
      { label: t('legs.to'), cell: (row) => [personLink(app, row.user), row.device ? [h('span.quiet', ' · '), h('a', { href: addressOf('apps', app, 'people', row.user, 'devices', row.device) }, bdi(row.device))] : null] },
      { label: t('frame.state'), cell: (row) => (row.end ? endChip(row.end, row.detail) : waitChip(row.wait)) },
      { label: t('legs.after'), cell: (row) => (row.at ? duration(row.at - row.sent_at) : '–') },
      { label: t('message.detail'), cell: (row) => (row.detail ? bdi(row.detail) : '–') },
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

/** What became of messages to one person, a sentence each. */
export function sentencesList(app, legs) {
  return h('ul.lanes', legs.map((leg) => {
    const advice = remedy(leg);
    const held = waitsSentence(leg);
    return h('li.lane',
      h('div.lane-head',
        h('span', h('time.mono', { datetime: new Date(leg.sent_at).toISOString(), title: dateTime(leg.sent_at) }, exactClock(leg.sent_at)),
          leg.sender ? [' · ', personLink(app, leg.sender)] : null, leg.conversation ? [' · ', conversationLink(app, leg.conversation)] : null),
        leg.end ? endChip(leg.end, leg.detail) : waitChip(leg.wait)),
      h('p.lane-sentence', sentence(leg, leg.sent_at, receiptsOf(leg)), held ? ` ${held}` : null),
      advice ? h('p.lane-advice', advice) : null,
      h('p', idChip(leg.message_id, { href: addressOf('apps', app, 'messages', leg.message_id) })));
  }));
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
          list.replaceChildren(legs.length ? sentencesList(page.app, legs) : emptyState({ title: t('person.noLegs'), text: t('person.noLegsText') }));
        } catch (problem) {
          if (problem.name !== 'AbortError') list.replaceChildren(problemBox(problem));
        } finally { submit.removeAttribute('aria-busy'); }
        return undefined;
      },
    },
  }, known ? null : entry, field({ label: t('why.at'), hint: t('why.atHint', { zone: Intl.DateTimeFormat().resolvedOptions().timeZone }), input: at, optional: true }), field({ label: t('why.window'), input: window }), submit);
  return [h('p.quiet', t('person.whyLead')), form, list];
}
