// What became of a message on its way to one device, in states and in sentences.

import { h, bdi } from './dom.js';
import { t, tx, hasText, list, duration, exactClock, dateTime, timeElement } from './text.js';
import { chip } from './widgets.js';

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

export function waitChip(wait) {
  return chip('wait', word('wait', wait));
}

export function endWord(end) {
  return word('end', end);
}

/** bob's device, as the sentence names it: nobody has told the server a name for it, so it is platform and id. */
export function deviceName(device, platform) {
  if (!device) return t('leg.noDeviceName');
  return platform ? `${platform} ${device.length > 12 ? `${device.slice(0, 8)}…` : device}` : device;
}

/** How a device settled it. */
function settledSentence(places, detail) {
  const suppressed = /^suppressed\((.*)\)$/.exec(detail ?? '')?.[1];
  if (suppressed) return hasText(`settled.suppressed.${suppressed}`) ? tx(`settled.suppressed.${suppressed}`, places) : tx('settled.suppressed', { ...places, reason: suppressed });
  return tx(hasText(`settled.${detail}`) ? `settled.${detail}` : 'settled.shown', places);
}

/**
 * What became of one leg, as a sentence. `leg` is one of the trace's open or ended legs, `receipts` those of its device, `sentAt` when
 * the message was accepted.
 */
export function sentence(leg, sentAt, receipts = []) {
  const places = { user: bdi(leg.user), device: bdi(leg.device ?? ''), after: leg.at ? duration(leg.at - sentAt) : '' };
  if (!leg.end) {
    const more = { ...places, until: leg.not_before ? timeElement(leg.not_before, dateTime(leg.not_before)) : '' };
    if (leg.not_before && hasText(`sentence.wait.${leg.wait}.until`)) return tx(`sentence.wait.${leg.wait}.until`, more);
    return hasText(`sentence.wait.${leg.wait}`) ? tx(`sentence.wait.${leg.wait}`, more) : tx('sentence.wait', { ...more, wait: leg.wait });
  }
  if (leg.end === 'settled') return settledSentence(places, leg.detail);
  if (leg.end === 'accepted') {
    const opened = receipts.find((receipt) => receipt.receipt === 'opened');
    const shown = receipts.find((receipt) => receipt.receipt === 'shown');
    if (opened) return tx('sentence.end.accepted.opened', { ...places, at: exactClock(opened.at) });
    if (shown) return tx('sentence.end.accepted.shown', { ...places, at: exactClock(shown.at) });
    return tx('sentence.end.accepted', places);
  }
  const reading = leg.end === 'read_elsewhere' ? readingSentence(leg, sentAt, places) : null;
  if (reading) return reading;
  const key = `sentence.end.${leg.end}`;
  const reason = bdi(leg.detail ?? '');
  if (leg.detail && hasText(`${key}.detail`)) return tx(`${key}.detail`, { ...places, reason });
  return hasText(key) ? tx(key, places) : tx('sentence.end', { ...places, end: leg.end });
}

/** Where it was read, and how long before its device would have missed its deadline; null where nobody knows the device. */
function readingSentence(leg, sentAt, places) {
  const read = (leg.steps ?? []).findLast((step) => step.step === 'read' && step.device);
  if (!read) return null;
  const deadline = leg.steps.find((step) => step.step === 'device' && step.turn === 'deadline_missed' && step.at >= read.at);
  const more = { ...places, reader: bdi(read.device), after: duration(read.at - sentAt), before: deadline ? duration(deadline.at - read.at) : '' };
  return tx(deadline ? 'sentence.end.read_elsewhere.deadline' : 'sentence.end.read_elsewhere.reader', more);
}

/** What held it up before its end, with how long each took; null for nothing. */
export function waitsSentence(leg) {
  const steps = leg.steps ?? [];
  const parts = steps.flatMap((step, index) => {
    const next = steps[index + 1]?.at ?? leg.at;
    if (next === undefined || next === null) return [];
    if (step.step === 'waiting') return [t('sentence.heldUp.part', { cause: word('wait', step.wait), time: duration(next - step.at) })];
    if (step.step === 'answered') return [t('sentence.heldUp.answer', { answer: answerWords(step) })];
    return [];
  });
  return parts.length ? t('sentence.heldUp', { causes: list(parts) }) : null;
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
