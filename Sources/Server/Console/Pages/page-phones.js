// The page of the virtual phones: each with its screen, what can be done to it, its trace, and what was done as a scenario.

import { api, path } from './api.js';
import { h, loadStyle, makeId } from './dom.js';
import { addWords, clock, currentLanguage, hasText, t, tn } from './text.js';
import { pageHead } from './widgets.js';
import { may } from './session.js';
import { PhoneLink, sayMissingRole } from './phone-link.js';
import { PhoneView } from './phone.js';
import { TraceView } from './trace.js';
import { PhoneControls, makePush, makeSettings, makeSetup } from './phone-controls.js';
import { ScenarioRecorder } from './phone-scenario.js';

/** A browser holds six connections to a server; the console needs two of them. */
const STREAMS = 4;

const VERSIONS = ['26', '18', '17', '16', '15', '14', '13', '12', '11', '10', '9.3', '8', '7', '6'];
const TABS = ['trace', 'settings', 'push', 'setup', 'scenario'];

export default async function open(page) {
  const words = currentLanguage() === 'en' ? import('./text-phones-en.js') : import('./text-phones-zh-Hans.js');
  const [{ default: catalogue }] = await Promise.all([words, loadStyle('phones-page.css'), loadStyle('phone.css')]);
  addWords(catalogue);
  page.setTitle(t('phones.title'));
  const body = h('div.phones');
  page.root.append(pageHead({ title: t('phones.title'), lead: t('phones.lead') }), body);
  const grid = new PhoneGrid(body);
  page.onLeave(() => grid.close());
  await grid.load();
}

class PhoneGrid {
  constructor(root) {
    this.root = root;
    this.cards = new Map();
    this.said = h('p.phones-said', { role: 'status' });
    this.list = h('div.phones-list');
    this.start = h('div');
  }

  close() {
    for (const card of this.cards.values()) card.close();
  }

  async load() {
    this.root.replaceChildren(h('p.phones-lead', { role: 'status' }, t('phones.loading')));
    let answer;
    try {
      answer = await api.get('/v1/phones');
    } catch (problem) {
      if (problem.status === 404) return this.showNothing('phones.off', 'phones.offText');
      const again = h('button.phones-button', { type: 'button', on: { click: () => this.load() } }, t('phones.retry'));
      this.root.replaceChildren(h('div.phones-empty', { role: 'alert' }, h('p', t('phones.loadFailed', { detail: problem.detail || problem.message })), again));
      return undefined;
    }
    this.canStart = answer.can_start === true && may('administer');
    this.root.replaceChildren(this.said, this.list, this.start);
    if (!answer.phones.length) this.list.replaceChildren(this.makeNothing('phones.none', 'phones.noneText'));
    for (const facts of answer.phones) this.add(facts, this.cards.size < STREAMS);
    if (this.canStart) this.start.replaceChildren(this.makeStart());
    return undefined;
  }

  showNothing(title, text) {
    this.root.replaceChildren(this.makeNothing(title, text));
  }

  makeNothing(title, text) {
    return h('div.phones-empty', h('h2', t(title)), h('p', t(text)));
  }

  add(facts, isOpen) {
    if (!this.cards.size) this.list.replaceChildren();
    const card = new PhoneCard(facts, { grid: this, isOpen });
    this.cards.get(facts.id)?.close();
    const old = this.cards.get(facts.id)?.element;
    this.cards.set(facts.id, card);
    if (old) old.replaceWith(card.element);
    else this.list.append(card.element);
    return card;
  }

  get openCards() {
    return [...this.cards.values()].filter((card) => card.isOpen).length;
  }

  makeStart() {
    return h('details.phones-start', h('summary', t('phones.start.title')), makeSetup({ id: '', user: '', ios: '17', lifecycle: 'scenes', delegate: 'modern' }, {
      versions: VERSIONS, isNew: true, start: (body) => this.startPhone(body),
    }));
  }

  /** Starts a phone; one of the same name ends first, and its folder stays. */
  async startPhone(body) {
    const facts = await api.post('/v1/phones', body);
    const card = this.add(facts, true);
    card.element.querySelector('h2').focus();
  }

  async endPhone(card) {
    await api.delete(path`/v1/phones/${card.facts.id}`);
    card.close();
    card.element.remove();
    this.cards.delete(card.facts.id);
    this.said.textContent = t('phones.start.ended', { name: card.facts.id });
    if (!this.cards.size) this.list.replaceChildren(this.makeNothing('phones.none', 'phones.noneText'));
  }
}

class PhoneCard {
  constructor(facts, { grid, isOpen }) {
    this.facts = facts;
    this.grid = grid;
    this.isOpen = false;
    const id = makeId('phone');
    this.status = h('span.phones-status');
    this.state = h('span.phones-state');
    this.toggle = h('button.phones-button.is-quiet', { type: 'button', on: { click: () => (this.isOpen ? this.close() : this.open()) } });
    this.problem = h('p.phones-problem', { role: 'alert' });
    this.note = h('p.phones-said', { role: 'status' });
    this.body = h('div.phones-body');
    this.element = h('article.phones-card', { 'aria-labelledby': id, 'data-phone': facts.id },
      h('header.phones-head', h('div', h('h2', { id, tabindex: '-1' }, h('bdi', t('phones.card.title', { name: facts.user ?? facts.id }))),
        h('p.phones-note', t('phones.card.facts', { ios: facts.ios, lifecycle: t(`phones.lifecycle.${facts.lifecycle}`), delegate: t(`phones.delegate.${facts.delegate}`) }))),
      h('div.phones-head-side', this.state, this.status, this.toggle)),
      this.problem, this.note, this.body);
    if (isOpen) this.open();
    this.showStatus();
  }

  open() {
    if (this.isOpen) return;
    // A screen shows what people have written.
    if (!may('content')) { this.showNote(sayMissingRole('content')); return; }
    if (this.grid.openCards >= STREAMS) { this.showNote(t('phones.tooMany', { n: STREAMS })); return; }
    this.isOpen = true;
    this.note.replaceChildren(may('send') ? '' : sayMissingRole('send'));
    const link = new PhoneLink(this.facts);
    this.link = link;
    this.recorder = new ScenarioRecorder(link);
    this.view = new PhoneView(link);
    link.addEventListener('refuse', (event) => this.showProblem(t('phones.do.refused', { detail: event.detail })));
    link.addEventListener('change', () => this.showStatus());
    this.panel = new PhonePanel(link, { recorder: this.recorder, grid: this.grid, card: this });
    this.body.replaceChildren(this.view.element, this.panel.element);
    link.open();
    this.showStatus();
  }

  close() {
    this.view?.close();
    this.link?.close();
    this.isOpen = false;
    this.body.replaceChildren();
    this.note.replaceChildren();
    this.showStatus();
  }

  showNote(text) {
    this.note.textContent = text;
  }

  showProblem(text) {
    this.problem.textContent = text;
    clearTimeout(this.problemTimer);
    this.problemTimer = setTimeout(() => { this.problem.textContent = ''; }, 8_000);
  }

  showStatus() {
    const status = this.isOpen ? this.link.status : 'ended';
    const kind = { live: 'good', connecting: 'wait', reconnecting: 'wait', ended: 'quiet' }[status];
    if (this.shownStatus !== status) {
      this.shownStatus = status;
      this.status.className = `phones-status is-${kind}`;
      this.status.replaceChildren(h('span.phones-dot', { 'aria-hidden': 'true' }), this.isOpen ? t(`phones.status.${status}`) : '');
      this.status.hidden = !this.isOpen;
    }
    this.toggle.textContent = this.isOpen ? t('phones.disconnect') : t('phones.connect');
    const state = this.isOpen ? this.link.screen?.apps[this.link.app]?.state : null;
    const words = state && hasText(`phones.state.${state}`) ? `${t('phones.state.label')} ${t(`phones.state.${state}`)}` : '';
    if (this.state.textContent !== words) this.state.textContent = words;
  }
}

/** Beside the phone: its controls, and tabs with the trace and what is needed less often. */
class PhonePanel {
  constructor(link, { recorder, grid, card }) {
    this.link = link;
    this.recorder = recorder;
    this.grid = grid;
    this.card = card;
    this.controls = new PhoneControls(link);
    this.trace = new TraceView(link);
    this.made = new Map([['trace', this.trace.element]]);
    const base = makeId('tab');
    this.tabs = new Map(TABS.map((name) => [name, h('button.phones-tab', {
      type: 'button', role: 'tab', id: `${base}-${name}`, 'aria-controls': `${base}-panel`, on: { click: () => this.choose(name), keydown: (event) => this.step(event, name) },
    }, t(`phones.tab.${name}`))]));
    this.room = h('div.phones-tab-room', { role: 'tabpanel', id: `${base}-panel` });
    this.element = h('div.phones-panel', this.controls.element,
      h('div.phones-tabs', { role: 'tablist', 'aria-label': t('phones.tab.label', { name: link.facts.user ?? link.id }) }, [...this.tabs.values()]), this.room);
    this.choose('trace');
  }

  choose(name) {
    for (const [other, tab] of this.tabs) {
      tab.setAttribute('aria-selected', String(other === name));
      tab.tabIndex = other === name ? 0 : -1;
    }
    this.room.setAttribute('aria-labelledby', this.tabs.get(name).id);
    if (!this.made.has(name)) this.made.set(name, this.make(name));
    const content = this.made.get(name);
    this.room.replaceChildren(content);
    if (name === 'trace') this.trace.keepEnd();
    if (name === 'scenario') this.scenario.show();
  }

  step(event, name) {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!move) return;
    event.preventDefault();
    const next = TABS[(TABS.indexOf(name) + move + TABS.length) % TABS.length];
    this.choose(next);
    this.tabs.get(next).focus();
  }

  make(name) {
    if (name === 'settings') return makeSettings(this.link);
    if (name === 'push') return makePush(this.link);
    if (name === 'setup') return this.makeSetup();
    this.scenario = new ScenarioTab(this.link, this.recorder);
    return this.scenario.element;
  }

  makeSetup() {
    const { facts } = this.link;
    const implemented = h('div', h('h3', t('phones.setup.implements')), h('ul.phones-methods', (facts.implements ?? []).map((method) => h('li', h('code', method)))));
    if (!facts.can_change || !may('administer')) {
      const command = `tidings phone --ios ${facts.ios} --lifecycle ${facts.lifecycle} --delegate ${facts.delegate}`;
      return h('div.phones-settings', h('p.phones-lead', t('phones.setup.cannot')), h('pre.phones-code', { tabindex: '0' }, command), implemented);
    }
    return h('div.phones-settings', h('p.phones-lead', t('phones.setup.lead')),
      makeSetup(facts, { versions: VERSIONS, start: (body) => this.grid.startPhone(body) }), implemented,
      h('div.phones-row', h('button.phones-button.is-danger', { type: 'button', on: { click: () => this.grid.endPhone(this.card) } }, t('phones.start.end'))));
  }
}

class ScenarioTab {
  constructor(link, recorder) {
    this.link = link;
    this.recorder = recorder;
    this.kind = 'rules';
    const name = makeId('scenario');
    this.lead = h('p.phones-lead');
    this.note = h('p.phones-note', { role: 'status' });
    this.text = h('textarea.phones-code', { rows: '16', readonly: true, spellcheck: 'false', 'aria-label': t('phones.scenario.text') });
    this.copyButton = h('button.phones-button.is-main', { type: 'button', on: { click: () => this.copy() } }, t('phones.scenario.copy'));
    const choice = (kind) => h('label.phones-radio', h('input', {
      type: 'radio', name, value: kind, checked: kind === this.kind, on: { change: () => { this.kind = kind; this.show(); } },
    }), t(`phones.scenario.kind.${kind}`));
    this.element = h('div.phones-scenario', this.lead,
      h('fieldset.phones-radios', h('legend', t('phones.scenario.kind')), choice('rules'), choice('code')),
      this.text,
      h('div.phones-row', this.copyButton, h('button.phones-button.is-quiet', { type: 'button', on: { click: () => { this.recorder.begin(); this.show(); } } }, t('phones.scenario.again'))),
      this.note, h('p.phones-note', t('phones.scenario.run'), ' ', h('code', 'tidings scenario my-app.yaml')));
    link.addEventListener('change', () => { if (this.element.isConnected) this.showSoon(); });
  }

  showSoon() {
    this.timer ??= setTimeout(() => { this.timer = null; this.show(); }, 400);
  }

  show() {
    const { text, left } = this.recorder.write(this.kind);
    const count = this.recorder.steps;
    this.lead.textContent = t('phones.scenario.lead', { time: clock(this.recorder.since) });
    if (this.text.value !== text) this.text.value = text;
    const words = [count ? tn('phones.scenario.steps', count) : t('phones.scenario.empty'), left ? tn('phones.scenario.left', left) : ''].filter(Boolean).join(' · ');
    if (this.note.textContent !== words) this.note.textContent = words;
  }

  async copy() {
    this.show();
    try {
      await navigator.clipboard.writeText(this.text.value);
      this.copyButton.textContent = t('phones.scenario.copied');
      setTimeout(() => { this.copyButton.textContent = t('phones.scenario.copy'); }, 2_000);
    } catch {
      this.text.select();
      this.note.textContent = t('phones.scenario.copyFailed');
    }
  }
}
