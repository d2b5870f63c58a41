// Beside a phone: its controls, and tabs with the trace and what is needed less often.

import { h, makeId } from './dom.js';
import { clock, t, tn } from './text.js';
import { may } from './session.js';
import { confirmAction } from './widgets.js';
import { TraceView } from './trace.js';
import { PhoneControls, makePush, makeSettings, makeSetup } from './phone-controls.js';

const TABS = ['trace', 'settings', 'push', 'setup', 'scenario'];

export class PhonePanel {
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
      type: 'button', role: 'tab', id: `${base}-${name}`, 'aria-controls': `${base}-panel`,
        on: { click: () => this.choose(name), keydown: (event) => this.step(event, name) },
    }, t(`phones.tab.${name}`))]));
    this.room = h('div.phones-tab-room', { role: 'tabpanel', id: `${base}-panel` });
    // Two phones side by side have their traces below, folded; beside a phone that stands alone there is room.
    this.folded = h('div.phones-folded', { id: `${base}-fold` },
      h('div.phones-tabs', { role: 'tablist', 'aria-label': t('phones.tab.label', { name: link.facts.user ?? link.id }) },
        [...this.tabs.values()]), this.room);
    this.foldButton = h('button.phones-fold-button', { type: 'button', 'aria-controls': `${base}-fold`, on: { click: () => this.unfold(this.folded.hidden) } }, t('phones.tab.fold'));
    this.unfold(!matchMedia('(width >= 1200px)').matches || !grid.hasSeveral);
    this.element = h('div.phones-panel', this.controls.element, h('div.phones-fold', this.foldButton, this.folded));
    this.choose('trace');
  }

  unfold(isOpen) {
    this.folded.hidden = !isOpen;
    this.foldButton.setAttribute('aria-expanded', String(isOpen));
    if (isOpen) this.trace.keepEnd();
  }

  /** Shows what the trace has of a message. */
  find(message) {
    this.unfold(true);
    this.choose('trace');
    this.trace.find(message);
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
    const implemented = h('div', h('h3', t('phones.setup.implements')),
      h('ul.phones-methods', (facts.implements ?? []).map((method) => h('li', h('code', method)))));
    if (!facts.can_change || !may('administer')) {
      const command = `tidings phone --ios ${facts.ios} --lifecycle ${facts.lifecycle} --delegate ${facts.delegate}`;
      return h('div.phones-settings', h('p.phones-lead', t('phones.setup.cannot')), h('pre.phones-code', { tabindex: '0' }, command),
        implemented);
    }
    return h('div.phones-settings', h('p.phones-lead', t('phones.setup.lead')),
      makeSetup(facts, this.grid.setup),
      this.grid.delegates ? null : implemented,
      h('div.phones-row', h('button.phones-button.is-danger', { type: 'button', on: { click: () => this.end() } }, t('phones.start.end'))));
  }

  end() {
    return confirmAction({ title: t('phones.start.endTitle', { name: this.link.id }), text: t('phones.start.endText'),
      action: t('phones.start.end'), act: () => this.grid.endPhone(this.card) });
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
      h('div.phones-row', this.copyButton, h('button.phones-button.is-quiet',
        { type: 'button', on: { click: () => { this.recorder.begin(); this.show(); } } }, t('phones.scenario.again'))),
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
    const words = [count ? tn('phones.scenario.steps', count) : t('phones.scenario.empty'),
      left ? tn('phones.scenario.left', left) : ''].filter(Boolean).join(' · ');
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
