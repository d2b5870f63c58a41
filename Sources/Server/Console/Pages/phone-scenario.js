// Keeps what is done to a phone, so that it can be written as a scenario.

import { ScenarioWriter } from './phone-scenario-writer.js';

const EVENTS_MAX = 3_000;

export class ScenarioRecorder {
  constructor(link) {
    this.link = link;
    this.notices = new Map();
    link.addEventListener('lines', (event) => this.take(event.detail));
    link.addEventListener('change', () => this.noteScreen());
    link.addEventListener('forget', () => this.begin());
    this.begin();
  }

  /** Forgets what was done; the phone as it is now is where the scenario begins. */
  begin() {
    this.since = Date.now();
    this.start = null;
    this.events = [];
    this.link.done = [];
    this.noteScreen();
  }

  take(events) {
    if (!this.start) return;
    this.events.push(...events.filter((event) => event.n > this.start.n));
    if (this.events.length > EVENTS_MAX) this.events.splice(0, this.events.length - EVENTS_MAX);
  }

  noteScreen() {
    const { screen } = this.link;
    if (!screen) return;
    for (const notice of [...screen.list, ...screen.banners]) this.notices.set(notice.notification, notice);
    this.start ??= { screen, n: this.link.trace.at(-1)?.n ?? 0, wall: this.link.trace.at(-1)?.wall ?? Date.now() };
  }

  get steps() {
    return this.link.done.length + this.events.filter((event) => event.event === 'push').length;
  }

  /** The scenario: `{text, left}`, where `left` counts what has no word in it. */
  write(kind) {
    return new ScenarioWriter(this, kind).write();
  }
}
