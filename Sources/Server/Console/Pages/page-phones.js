// The page of the virtual phones: each with its screen, what can be done to it, its trace, and what was done as a scenario.

import { api, path } from './api.js';
import { h, loadStyle, makeId } from './dom.js';
import { addWords, currentLanguage, hasText, t, tx } from './text.js';
import { emptyState, pageHead } from './widgets.js';
import { may } from './session.js';
import { PhoneLink, sayMissingRole } from './phone-link.js';
import { PhoneView } from './phone.js';
import { PhonePanel } from './phone-panel.js';
import { makeSetup } from './phone-controls.js';
import { ScenarioRecorder } from './phone-scenario.js';
import { LifeLine, findApp } from './phone-life.js';

/** A browser holds six connections to a server; the console needs two of them. */
const STREAMS = 4;

/** Versions to choose from; the phone takes others, too. */
const VERSIONS = ['26', '18', '17', '16', '15', '14', '13', '12', '11', '10', '9.3', '8', '7', '6'];

export default async function open(page) {
  const words = currentLanguage() === 'en' ? import('./text-phones-en.js') : import('./text-phones-zh-Hans.js');
  const [{ default: catalogue }] = await Promise.all([words, loadStyle('phones-page.css'), loadStyle('phone.css')]);
  addWords(catalogue);
  if (page.signal.aborted) return;
  page.setTitle(t('phones.title'));
  const body = h('div.phones');
  page.root.append(pageHead({ title: t('phones.title'), lead: t('phones.lead') }), body);
  const grid = new PhoneGrid(body, page);
  page.onLeave(() => grid.close());
  await grid.load();
  grid.show(page.query.phone, page.query.message);
}

/** What had the focus is gone. While a dialog is open nothing outside of it takes it. */
function focusBehindDialog(element) {
  const dialog = document.querySelector('dialog[open]');
  if (dialog) dialog.addEventListener('close', () => element.focus(), { once: true });
  else element.focus();
}

class PhoneGrid {
  constructor(root, page) {
    this.root = root;
    this.page = page;
    this.cards = new Map();
    this.said = h('p.phones-said', { role: 'status' });
    this.list = h('div.phones-list');
    this.start = h('div');
  }

  /** What a form needs with which a phone is started. */
  get setup() {
    return { versions: VERSIONS, delegates: this.delegates, isOn: (id) => this.cards.has(id), start: (body) => this.startPhone(body) };
  }

  close() {
    for (const card of this.cards.values()) card.close();
    this.life?.close();
  }

  /** Shows one phone, and what its trace has of a message: where somebody came from the message's page. */
  show(id, message) {
    const card = this.cards.get(id);
    if (!card) return;
    card.open();
    if (message) card.panel?.find(message);
    this.page.focusOn = card.element.querySelector('h2');
    card.element.scrollIntoView({ block: 'start' });
  }

  async load() {
    this.root.replaceChildren(h('p.phones-lead', { role: 'status' }, t('phones.loading')));
    let answer;
    try {
      answer = await api.get('/v1/phones');
    } catch (problem) {
      if (problem.status === 404) return this.showNothing('phones.off', 'phones.offText');
      const again = h('button.phones-button', { type: 'button', on: { click: () => this.load() } }, t('phones.retry'));
      this.root.replaceChildren(h('div', { role: 'alert' }, emptyState({ title: t('phones.loadFailed', { detail: problem.detail || problem.message }), action: again })));
      return undefined;
    }
    this.delegates = answer.delegates;
    this.canStart = answer.can_start === true && may('administer');
    const users = answer.phones.map((phone) => phone.user).filter(Boolean);
    // Lines of a trace lead to messages of this app.
    this.app = await findApp(this.page.apps(), users);
    // The page was left meanwhile: what is started now would not be closed.
    if (this.page.signal.aborted) return undefined;
    this.life = new LifeLine(this.app, () => [...this.cards.values()].filter((card) => card.isOpen).map((card) => card.facts.user).filter(Boolean));
    this.root.replaceChildren(this.said, this.list, this.app ? this.life.element : '', this.start);
    this.life.note();
    if (!answer.phones.length) this.list.replaceChildren(this.makeNothing('phones.none', 'phones.noneText'));
    this.hasSeveral = answer.phones.length > 1;
    for (const facts of answer.phones) this.add(facts, this.cards.size < STREAMS);
    if (this.canStart) this.start.replaceChildren(this.makeStart());
    return undefined;
  }

  showNothing(title, text) {
    this.root.replaceChildren(this.makeNothing(title, text));
  }

  makeNothing(title, text) {
    return emptyState({ title: t(title), text: tx(text, {
      start: h('code', 'tidings serve --phones 127.0.0.1:7482'), phones: h('code', 'tidings phones --phone alice'), run: h('code', 'make run') }) });
  }

  add(facts, isOpen) {
    if (!this.cards.size) this.list.replaceChildren();
    const old = this.cards.get(facts.id);
    old?.close();
    const card = new PhoneCard({ ...facts, methods: this.delegates?.[facts.delegate] }, { grid: this, isOpen });
    this.cards.set(facts.id, card);
    if (old) old.element.replaceWith(card.element);
    else this.list.append(card.element);
    return card;
  }

  get openCards() {
    return [...this.cards.values()].filter((card) => card.isOpen).length;
  }

  makeStart() {
    return h('details.phones-start', h('summary', t('phones.start.title')),
      makeSetup({ id: '', user: '', ios: '17', lifecycle: 'scenes', delegate: 'modern' }, { ...this.setup, isNew: true }));
  }

  /** Starts a phone; one of the same name ends first, and its folder stays. */
  async startPhone(body) {
    const facts = await api.post('/v1/phones', body);
    // The new one is what somebody wants to see; the last of the others makes room.
    const others = [...this.cards.values()].filter((card) => card.isOpen && card.facts.id !== facts.id);
    if (others.length >= STREAMS) {
      const last = others.at(-1);
      last.close();
      last.showNote(t('phones.start.closed', { name: facts.id }));
    }
    this.hasSeveral = [...this.cards.keys()].some((id) => id !== facts.id);
    const card = this.add(facts, true);
    focusBehindDialog(card.element.querySelector('h2'));
  }

  async endPhone(card) {
    await api.delete(path`/v1/phones/${card.facts.id}`);
    card.close();
    card.element.remove();
    this.cards.delete(card.facts.id);
    this.said.textContent = t('phones.start.ended', { name: card.facts.id });
    focusBehindDialog(document.querySelector('main h1'));
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
        h('p.phones-note', t('phones.card.facts', { ios: facts.ios, lifecycle: t(`phones.lifecycle.${facts.lifecycle}`),
          delegate: t(`phones.delegate.${facts.delegate}`) }))),
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
    link.addEventListener('lines', () => this.grid.life?.note());
    link.messagesOf = this.grid.app;
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
