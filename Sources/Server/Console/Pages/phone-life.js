// Below the phones: the life of the newest message between their people, from the disk to the screen, as far as the server knows it.

import { api, path } from './api.js';
import { h } from './dom.js';
import { duration, t } from './text.js';
import { addressOf } from './address.js';
import { personLink } from './widgets.js';
import { deviceLink, knowDevices } from './devices.js';

/** So long after a line of a trace, in milliseconds, the server is asked; what comes meanwhile is asked for with it. */
const PAUSE = 500;
/** A receipt comes later than the notification, and tells of itself in no trace. */
const LATER = 2_500;
/** So many lines at most: of a message to a group, a line for each phone. */
const LINES = 4;

/** How the app has shown it itself, by what it has reported. */
const SETTLED = { shown: 'onScreen', notified: 'notified' };

/** Returns what the server knows of one leg, in its order: `{key, at}`. */
function momentsOf(leg) {
  const moments = [{ key: 'stored', at: leg.sent_at }];
  for (const step of leg.steps ?? []) {
    if (step.step === 'waiting') moments.push({ key: 'waiting', at: step.at, wait: step.wait });
    if (step.step === 'device' && step.turn === 'deadline_missed') moments.push({ key: 'unanswered', at: step.at });
    if (step.step === 'pushed') moments.push({ key: 'pushed', at: step.at });
  }
  if (leg.end === 'accepted') moments.push({ key: 'accepted', at: leg.at });
  else if (leg.end === 'settled') moments.push({ key: SETTLED[leg.detail] ?? 'taken', at: leg.at });
  else if (leg.end) moments.push({ key: 'end', at: leg.at, end: leg.end });
  if (leg.shown_at) moments.push({ key: 'shown', at: leg.shown_at });
  if (leg.opened_at) moments.push({ key: 'opened', at: leg.opened_at });
  return moments;
}

function momentWords({ key, wait, end }) {
  if (key === 'waiting') return t(`wait.${wait}`);
  if (key === 'end') return t(`end.${end}`);
  return t(`phones.life.${key}`);
}

function lifeLine(app, leg) {
  const moments = momentsOf(leg);
  return h('div.phones-life-line', { 'data-message': leg.message_id },
    h('p.phones-life-who', leg.sender ? personLink(app, leg.sender) : t('messages.theApp'), h('span', { 'aria-hidden': 'true' }, ' → '), deviceLink(app, leg.user, leg.device)),
    h('ol.phones-life-moments', moments.map((moment) => h('li', { class: `is-${moment.key}` },
      h('span', momentWords(moment)), ' ', h('span.phones-life-time', moment.key === 'stored' ? '0' : `+${duration(moment.at - leg.sent_at)}`)))),
    h('a', { href: addressOf('apps', app, 'messages', leg.message_id), target: '_blank', rel: 'noopener' }, t('phones.life.all'), h('span.off-screen', ` ${t('phones.life.newTab')}`)));
}

/** The app of the server that the people of the phones are in; null where none is found. */
export async function findApp(apps, users) {
  if (apps.length < 2 || !users.length) return apps[0]?.id ?? null;
  for (const app of apps.slice(0, 10)) {
    try {
      const { devices } = await api.get(path`/v1/apps/${app.id}/users/${users[0]}/devices`, { limit: 1 });
      if (devices.length) return app.id;
    } catch { /* Another one may be it. */ }
  }
  return apps[0].id;
}

export class LifeLine {
  /** `users()` names the people of the phones that are open. */
  constructor(app, users) {
    this.app = app;
    this.users = users;
    this.shown = '';
    this.turn = 0;
    this.box = h('div.phones-life-lines', h('p.phones-note', t('phones.life.none')));
    this.element = h('section.phones-life', { 'aria-label': t('phones.life.title') }, h('h2', t('phones.life.title')), this.box);
  }

  close() {
    clearTimeout(this.timer);
    clearTimeout(this.later);
    this.isClosed = true;
  }

  /** Something has happened on a phone. */
  note() {
    if (!this.app || this.isClosed) return;
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.load();
    }, PAUSE);
    clearTimeout(this.later);
    this.later = setTimeout(() => this.load(), LATER);
  }

  async load() {
    if (this.isClosed) return;
    const turn = ++this.turn;
    const users = [...new Set(this.users())];
    try {
      const answers = await Promise.all(users.map((user) => api.get(path`/v1/apps/${this.app}/legs`, { user, limit: 20 })));
      const legs = answers.flatMap((answer) => answer.legs).filter((leg) => leg.user !== leg.sender && leg.end !== 'own_device' && leg.end !== 'not_notifiable');
      const newest = legs.reduce((latest, leg) => (!latest || leg.sent_at > latest.sent_at ? leg : latest), null);
      const lines = newest ? legs.filter((leg) => leg.message_id === newest.message_id).slice(0, LINES) : [];
      const words = JSON.stringify(lines);
      if (!lines.length || words === this.shown) return;
      await knowDevices(this.app, lines);
      // What was asked later knows more.
      if (this.isClosed || turn !== this.turn || this.box.contains(document.activeElement)) return;
      this.shown = words;
      this.box.replaceChildren(...lines.map((leg) => lifeLine(this.app, leg)));
    } catch { /* It is asked again when something happens. */ }
  }
}
