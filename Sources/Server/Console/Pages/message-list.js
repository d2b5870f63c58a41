// Messages as lines: when, from whom to whose device, what became of it, after how long. Made of the legs that the server finds and of what happens while somebody looks.

import { h } from './dom.js';
import { t, tn, number, exactClock, clock, date, dateTime, duration } from './text.js';
import { addressOf } from './address.js';
import { chip, personLink, emptyState } from './widgets.js';
import { deviceLink, knowDevices } from './devices.js';
import { conversationLink } from './links.js';
import { endKind, legChip } from './legs.js';

/** So many messages are kept. */
const KEPT = 2_000;
/** A line names so many devices, and counts the others. */
const NAMED = 2;

/** Returns whether nobody asks about it: a device of the sender's, or what never rings. */
function isFiller(message, leg) {
  return leg.user === message.sender || leg.end === 'own_device' || leg.end === 'not_notifiable';
}

/** Messages by id, each with its legs. */
export class MessageList {
  constructor() {
    this.messages = new Map();
  }

  message(id, at) {
    let message = this.messages.get(id);
    if (!message) {
      message = { id, at, legs: new Map() };
      this.messages.set(id, message);
      if (this.messages.size > KEPT) this.messages.delete(this.messages.keys().next().value);
    }
    return message;
  }

  leg(message, user, device) {
    const key = `${user} ${device ?? ''}`;
    if (!message.legs.has(key)) message.legs.set(key, { user, device: device ?? null });
    return message.legs.get(key);
  }

  /** Takes legs as the server finds them. What was seen to happen meanwhile is newer. */
  takeLegs(legs) {
    for (const found of legs) {
      const message = this.message(found.message_id, found.sent_at);
      Object.assign(message, { at: found.sent_at, sender: found.sender, conversation: found.conversation, kind: found.kind, isKnown: true });
      const leg = this.leg(message, found.user, found.device);
      if (leg.end && !found.end) continue;
      Object.assign(leg, { wait: found.wait, end: found.end, detail: found.detail, at: found.at, shown_at: found.shown_at ?? leg.shown_at, opened_at: found.opened_at ?? leg.opened_at });
    }
  }

  /** Takes an event of the stream. */
  takeEvent({ type, data }) {
    if (!data.message_id) return;
    const message = this.message(data.message_id, data.at);
    if (type === 'message_accepted') Object.assign(message, { sender: data.sender, conversation: data.conversation, at: data.at, kind: data.kind, isKnown: true });
    if (type === 'message_recalled') message.isRecalled = true;
    if (!data.user || type === 'push_answered') return;
    const leg = this.leg(message, data.user, data.device);
    if (type === 'leg_sent') leg.wait = 'in_flight';
    if (type === 'leg_waiting') leg.wait = data.wait;
    if (type === 'leg_ended') Object.assign(leg, { end: data.end, detail: data.detail, at: data.at });
    if (type === 'receipt') leg[`${data.receipt}_at`] = data.at;
  }

  /** Returns the newest messages that fit, the newest first, each with the legs that are shown; and how many were left out as filler. */
  rows({ most, fits, withFiller, user = '' }) {
    const rows = [];
    let hidden = 0;
    for (const message of [...this.messages.values()].sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))) {
      // Of an older one that is opened now only that is told: neither its sender nor its time.
      if (!message.isKnown) continue;
      const all = [...message.legs.values()];
      const legs = withFiller ? all : all.filter((leg) => !isFiller(message, leg));
      if (all.length && !legs.length) {
        hidden += 1;
        continue;
      }
      if (!fits(message, legs)) continue;
      rows.push({ message, legs: legs.sort((a, b) => rank(a, user) - rank(b, user)) });
      if (rows.length === most) break;
    }
    return { rows, hidden };
  }
}

/** Orders legs: those of a person who was named, then what failed or waits. */
function rank(leg, user) {
  if (user && leg.user === user) return -1;
  if (!leg.end) return 1;
  return { bad: 0, quiet: 2, good: 3 }[endKind(leg.end, leg.detail)] ?? 2;
}

function toWords(app, message, legs) {
  if (!legs.length) return conversationLink(app, message.conversation);
  // A name says whose it is, an id does not: the person is a link of their own then.
  const named = legs.slice(0, NAMED).map((leg, index) => [index ? ', ' : null, leg.device ? deviceLink(app, leg.user, leg.device) : personLink(app, leg.user)]);
  const group = message.conversation && !['PR', 'PH'].includes(message.conversation.type) ? [conversationLink(app, message.conversation), ': '] : null;
  return [group, named, legs.length > NAMED ? h('span.quiet', ` ${tn('messages.andMore', legs.length - NAMED)}`) : null];
}

/** The states of its legs: each as it is, several of a kind counted. */
function stateChips(message, legs) {
  const chips = new Map();
  for (const leg of legs) {
    const element = legChip(leg);
    const word = element.textContent;
    chips.set(word, { element, count: (chips.get(word)?.count ?? 0) + 1 });
  }
  return [message.isRecalled ? chip('quiet', t('message.recalled')) : null,
    ...[...chips.values()].map(({ element, count }) => {
      if (count > 1) element.append(h('span', ` × ${number(count)}`));
      return element;
    })];
}

/** Returns how long it took until the last of them had its end, or was shown; null while one has none. */
function tookOf({ message, legs }) {
  const ends = legs.map((leg) => leg.shown_at ?? leg.at).filter(Boolean);
  return ends.length && ends.length === legs.length ? Math.max(0, Math.max(...ends) - message.at) : null;
}

/** Returns those of lines that took longest until a device or APNs had them, the slowest first. */
export function slowestOf(rows, most) {
  const took = rows.map(({ message, legs }) => ({ message, legs: legs.filter((leg) => ['settled', 'accepted'].includes(leg.end)) }))
    .filter((row) => row.legs.length).map((row) => ({ row, took: tookOf(row) }));
  return took.sort((a, b) => b.took - a.took).slice(0, most).map(({ row }) => row);
}

function line(app, row) {
  const { message, legs } = row;
  const took = tookOf(row);
  const time = h('time', { datetime: new Date(message.at).toISOString(), title: dateTime(message.at) }, clock(message.at));
  return h('li.message-line', { 'data-message': message.id },
    h('a.message-line-time.mono', { href: addressOf('apps', app, 'messages', message.id), 'aria-label': t('messages.lineLabel', { time: exactClock(message.at), id: message.id }) }, time),
    h('code.message-line-id', message.id),
    h('span.message-line-way', message.sender ? personLink(app, message.sender) : h('span.quiet', t('messages.theApp')), h('span.message-line-arrow', { 'aria-hidden': 'true' }, ' → '), h('span.off-screen', ` ${t('messages.toWhom')} `), toWords(app, message, legs)),
    h('span.message-line-state', stateChips(message, legs)),
    h('span.message-line-took.num', took === null ? '' : duration(took)));
}

/** The lines, with the day before those of each day but today. */
export function messageLines(app, rows, label) {
  let day = date(Date.now());
  return h('ol.message-lines', { 'aria-label': label }, rows.map((row) => {
    const own = date(row.message.at);
    const isNewDay = own !== day;
    day = own;
    return [isNewDay ? h('li.message-day', own) : null, line(app, row)];
  }));
}

/** Looks up what the devices of lines are called. */
export function knowDevicesOf(app, rows) {
  return knowDevices(app, rows.flatMap(({ legs }) => legs.slice(0, NAMED)));
}

/** Returns whether a message has a leg in a state: "open", "bad", "wait.…" or "end.…"; with none every message fits. */
export function hasState(legs, state) {
  if (!state) return true;
  if (state === 'open') return legs.some((leg) => !leg.end);
  if (state === 'bad') return legs.some((leg) => leg.end && endKind(leg.end, leg.detail) === 'bad');
  return legs.some((leg) => (leg.end ? `end.${leg.end}` : `wait.${leg.wait}`) === state);
}

export function nothingFits(hasMessages, action) {
  return emptyState({
    title: t(hasMessages ? 'messages.noneFits' : 'messages.listEmpty'), text: t(hasMessages ? 'messages.noneFitsText' : 'messages.listEmptyText'), action: hasMessages ? null : action,
  });
}
