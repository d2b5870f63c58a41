// What became of a message on its way to one device, in states and in sentences.

import { h, bdi } from './dom.js';
import { t, tx, hasText, list, duration, exactClock, dateTime, timeElement } from './text.js';
import { chip } from './widgets.js';
import { deviceOf, deviceWords } from './devices.js';

const END_KINDS = {
  settled: 'good', accepted: 'good',
  own_device: 'quiet', not_notifiable: 'quiet', read_elsewhere: 'quiet', recalled: 'quiet', muted: 'quiet', quiet_hours: 'quiet', blocked: 'quiet',
  signed_out: 'quiet', disabled: 'quiet', no_device: 'quiet',
  expired: 'bad', no_token: 'bad', token_quarantined: 'bad', token_dead: 'bad', rejected: 'bad',
};

export const ENDS = Object.keys(END_KINDS);
export const WAITS = ['live', 'grace', 'quiet_hours', 'active_elsewhere', 'merging', 'config_fault', 'breaker_open', 'throttled', 'provider_down', 'in_flight'];

export function endKind(end, detail) {
  if (end === 'settled' && detail?.startsWith('suppressed')) return 'quiet';
  return END_KINDS[end] ?? 'quiet';
}

/** A name that the server may have and this console does not know yet is shown as it is. */
function word(prefix, name) {
  return hasText(`${prefix}.${name}`) ? t(`${prefix}.${name}`) : name;
}

export function endChip(end, detail) {
  return chip(endKind(end, detail), word('end', end));
}

/** The state of a leg: what the phone said of a push goes before that APNs took it. */
export function legChip(leg, receipts = []) {
  if (!leg.end) return waitChip(leg.wait);
  const said = leg.end === 'accepted' ? ['opened', 'shown'].find((each) => leg[`${each}_at`] || receipts.some((receipt) => receipt.receipt === each)) : null;
  return said ? chip('good', t(`leg.${said}`)) : endChip(leg.end, leg.detail);
}

export function waitChip(wait) {
  return chip('wait', word('wait', wait));
}

export function endWord(end) {
  return word('end', end);
}

/** How each place of a sentence is written; others are text. */
const PLACES = {
  user: bdi, reason: bdi, after: duration, before: duration, time: duration, at: exactClock, until: (at) => timeElement(at, dateTime(at)),
  cause: (wait) => word('wait', wait), wait: (wait) => word('wait', wait), end: (end) => word('end', end), answer: (said) => word('outcome', said),
  causes: (all) => list(all.map(({ key, places }) => t(key, filled(places)))),
};

function filled(places) {
  return Object.fromEntries(Object.entries(places).filter(([, value]) => value !== null).map(([name, value]) => [name, (PLACES[name] ?? String)(value)]));
}

/** Returns what the server says of a leg, a sentence each: why it was pushed, what became of it, what held it up. One that this console does not know stays English. */
export function sentences(app, leg) {
  return leg.sentences.map(({ key, text, places }) => {
    const words = (make, device) => (device ? make(app, leg.user, device) : null);
    const more = { ...filled(places), device: deviceOf(app, leg.user, leg.device), plain: deviceWords(app, leg.user, leg.device), reader: words(deviceWords, places.reader) };
    return tx(hasText(key) ? key : text, more);
  });
}

/** Returns whether nothing rang, or rings yet: what somebody asks about who wonders why a phone was silent. */
export function wasSilent(leg) {
  if (!leg.end) return !['live', 'in_flight'].includes(leg.wait);
  if (leg.end === 'settled') return Boolean(leg.detail?.startsWith('suppressed'));
  return !['accepted', 'own_device', 'not_notifiable'].includes(leg.end);
}

export function answerWords(step) {
  return [step.status, step.reason ?? word('outcome', step.outcome)].filter(Boolean).join(' ');
}

/** The verdict's tests, each with whether it has passed; null where no verdict was given. */
export function testsList(tests) {
  if (!tests?.length) return null;
  return h('ul.tests', tests.map((test) => h('li', chip(test.passed ? 'good' : 'quiet', t(test.passed ? 'fact.passed' : 'fact.decided')),
    h('span', word('fact', test.fact)))));
}

/** What to do if that surprises; null where there is nothing to do. */
export function remedy(leg) {
  if (leg.detail && hasText(`remedy.${leg.detail}`)) return t(`remedy.${leg.detail}`);
  const reason = /BadDeviceToken|DeviceTokenNotForTopic/.exec(leg.detail ?? '')?.[0];
  if (reason) return t(`remedy.${reason}`);
  const key = `remedy.${leg.end ?? leg.wait}`;
  return hasText(key) ? t(key) : null;
}
