// One phone as the server tells of it: its event stream, its commands, and what is on its screen.

import { api, path } from './api.js';
import { may, session } from './session.js';
import { t } from './text.js';

/** What is kept of the trace; older lines are with the phone. */
export const TRACE_LINES = 400;

const SCREEN_GAP = 120;
const BANNER_LOOK = 1_000;
const RETRY = 4_000;

/** Why somebody may not do something. */
export function sayMissingRole(role) {
  return t('role.needed', { role: t(`role.${role}`), own: t(`role.${session.role}`) });
}

export class PhoneLink extends EventTarget {
  constructor(facts) {
    super();
    this.facts = facts;
    this.id = facts.id;
    this.status = 'connecting';
    this.screen = null;
    this.views = new Map();
    this.trace = [];
    this.done = [];
    this.source = null;
    this.queue = Promise.resolve();
    this.isLooking = false;
    this.mustLook = false;
    this.lookTimer = null;
    this.lookedAt = -Infinity;
    this.retryTimer = null;
    this.retryGap = RETRY;
    this.drawTimer = null;
    this.newLines = [];
  }

  get apps() {
    return Object.keys(this.screen?.apps ?? {});
  }

  /** The app that commands are about: the one in the foreground, else the first. */
  get app() {
    return this.screen?.front_app ?? this.apps[0] ?? this.facts.app;
  }

  get frontViews() {
    const front = this.screen?.front_app;
    return front ? this.views.get(front)?.windows ?? [] : [];
  }

  open() {
    if (this.source) return;
    const last = this.trace.at(-1)?.n;
    const query = last === undefined ? `last=${TRACE_LINES}` : `after=${last}`;
    this.source = new EventSource(`${path`/v1/phones/${this.id}/events`}?${query}`);
    this.source.addEventListener('open', () => {
      this.retryGap = RETRY;
      this.setStatus('live');
    });
    this.source.addEventListener('error', () => this.noteEnd());
    this.source.addEventListener('message', (message) => this.take(JSON.parse(message.data)));
    this.look();
  }

  /** A browser tries again by itself, but not after an answer that is no stream, as while a phone is started anew. */
  noteEnd() {
    if (!this.source || this.source.readyState !== EventSource.CLOSED) return this.setStatus('reconnecting');
    this.setStatus('ended');
    this.source = null;
    this.retryTimer = setTimeout(() => this.open(), this.retryGap);
    this.retryGap = Math.min(this.retryGap * 2, 60_000);
    return undefined;
  }

  close() {
    this.source?.close();
    this.source = null;
    clearTimeout(this.retryTimer);
    clearTimeout(this.lookTimer);
    this.lookTimer = null;
    clearTimeout(this.drawTimer);
    this.drawTimer = null;
  }

  setStatus(status) {
    if (this.status === status) return;
    const isBack = status === 'live' && this.status !== 'connecting';
    this.status = status;
    if (isBack) this.look();
    this.tell();
  }

  take(event) {
    if (event.event === 'views') {
      this.views.set(event.app, { number: event.number, windows: event.views });
    } else {
      // A phone that was started anew counts from one.
      if (event.n <= (this.trace.at(-1)?.n ?? 0)) this.forgetTrace();
      this.trace.push(event);
      // How far the phone's clock is behind this one's, and the way of a line at least.
      this.skew = Math.min(this.skew ?? Infinity, Date.now() - event.wall);
      if (this.trace.length > TRACE_LINES) this.trace.splice(0, this.trace.length - TRACE_LINES);
      this.newLines.push(event);
      if (this.newLines.length > TRACE_LINES) this.newLines.splice(0, this.newLines.length - TRACE_LINES);
      this.look();
    }
    this.tell();
  }

  forgetTrace() {
    this.trace = [];
    this.newLines = [];
    this.dispatchEvent(new Event('forget'));
  }

  /** Listeners draw at once what came within a moment. */
  tell() {
    if (this.drawTimer) return;
    this.drawTimer = setTimeout(() => {
      this.drawTimer = null;
      const lines = this.newLines;
      this.newLines = [];
      if (lines.length) this.dispatchEvent(new CustomEvent('lines', { detail: lines }));
      this.dispatchEvent(new Event('change'));
    }, 60);
  }

  /** Asks what is on the screen, soon and once for many reasons. */
  look(after = SCREEN_GAP) {
    if (this.isLooking) { this.mustLook = true; return; }
    if (this.lookTimer) return;
    // Where much happens, four looks a second are enough.
    const gap = performance.now() - this.lookedAt < 1_000 ? 250 : 0;
    this.lookTimer = setTimeout(() => this.askScreen(), Math.max(after, after < SCREEN_GAP ? 0 : gap));
  }

  async askScreen() {
    this.lookTimer = null;
    this.isLooking = true;
    this.lookedAt = performance.now();
    try {
      const answer = await this.post({ do: 'screen' });
      if (answer?.ok) this.screen = answer.result;
      this.tell();
    } catch {
      // The stream tells whether the phone is there.
    }
    this.isLooking = false;
    if (!this.source) return;
    if (this.mustLook) {
      this.mustLook = false;
      this.look();
    } else if (this.screen && (this.screen.banners.length || (this.screen.lock !== 'unlocked' && this.screen.lit))) {
      // A banner goes by itself, and so does the light of a locked screen; no line of the trace says so.
      this.look(BANNER_LOOK);
    }
  }

  post(command) {
    return api.post(path`/v1/phones/${this.id}/commands`, command);
  }

  /** Whoever may only look is told so, and nothing is sent. */
  get mayUse() {
    return may('send');
  }

  /** Does one thing after the other. Answers what the phone said; a refusal is told to whoever listens. */
  send(command) {
    if (!this.mayUse) {
      this.refuse(sayMissingRole('send'));
      return Promise.resolve({ ok: false });
    }
    const asked = {};
    const answer = this.queue.then(() => {
      // As it was before: the lines that this leads to come after it.
      Object.assign(asked, { at: Date.now(), n: this.trace.at(-1)?.n ?? 0 });
      return this.post(command);
    }).then((said) => {
      if (said.ok) this.done.push({ ...asked, command });
      else this.refuse(`${said.field}: ${said.rule}`);
      this.look(30);
      return said;
    }, (problem) => {
      this.refuse(problem.detail || problem.message);
      return { ok: false };
    });
    this.queue = answer;
    return answer;
  }

  refuse(text) {
    this.dispatchEvent(new CustomEvent('refuse', { detail: text }));
  }
}
