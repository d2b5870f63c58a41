// What can happen to a phone beside touching its screen, and its settings.

import { h, makeId } from './dom.js';
import { t } from './text.js';

const SETTINGS = ['notifications', 'alert', 'sound', 'badge', 'lockScreen', 'notificationCenter', 'timeSensitive', 'criticalAlert',
  'scheduledDelivery', 'directMessages', 'announcement', 'backgroundRefresh'];

function makeButton(label, press, { hint, kind = '' } = {}) {
  return h(`button.phones-button${kind}`, { type: 'button', title: hint, on: { click: press } }, label);
}

/** The keys beside a phone: the app, the phone, and what is turned on and off. */
export class PhoneControls {
  constructor(link) {
    this.link = link;
    const send = (command) => () => link.send(command());
    const toApp = (word) => send(() => ({ do: word, app: link.app }));
    this.forceQuit = makeButton(t('phones.do.forceQuit'), toApp('force_quit'), { hint: t('phones.hint.forceQuit') });
    this.kill = makeButton(t('phones.do.kill'), toApp('kill'), { hint: t('phones.hint.kill') });
    this.freeze = makeButton(t('phones.do.freeze'), toApp('freeze'), { hint: t('phones.hint.freeze') });
    this.lock = makeButton(t('phones.do.lock'), () => link.send({ do: this.isLocked ? 'unlock' : 'lock' }));
    this.switches = new Map([
      ['airplane', this.makeSwitch('airplane', 'airplane')], ['focus', this.makeSwitch('focus', 'focus')],
        ['low_power', this.makeSwitch('lowPower', 'low_power')],
    ]);
    const group = (name, ...items) => h('div.phones-keys', { role: 'group', 'aria-label': t(`phones.do.${name}`) }, items);
    this.element = h('div.phones-controls', { role: 'group', 'aria-label': t('phones.do.label', { name: link.facts.user ?? link.id }) },
      group('app', makeButton(t('phones.do.open'), toApp('launch')), this.forceQuit, this.kill, this.freeze),
      group('phone', makeButton(t('phones.do.home'), send(() => ({ do: 'home' }))), this.lock,
        makeButton(t('phones.do.restart'), send(() => ({ do: 'restart' })), { hint: t('phones.hint.restart') }),
        makeButton(t('phones.do.memory'), send(() => ({ do: 'memory_low' }))),
          makeButton(t('phones.do.fetch'), toApp('background_chance'), { hint: t('phones.hint.fetch') })),
      group('switches', ...this.switches.values()));
    link.addEventListener('change', () => this.update());
    this.update();
  }

  get isLocked() {
    return this.link.screen ? this.link.screen.lock !== 'unlocked' : false;
  }

  makeSwitch(name, command) {
    const button = h('button.phones-switch', {
      type: 'button', role: 'switch', 'aria-checked': 'false', title: t(`phones.hint.${name}`),
      on: { click: () => this.link.send({ do: command, on: button.getAttribute('aria-checked') !== 'true' }) },
    }, h('span.phones-switch-track', { 'aria-hidden': 'true' }), t(`phones.do.${name}`));
    return button;
  }

  update() {
    const { screen } = this.link;
    if (!screen) return;
    const state = screen.apps[this.link.app]?.state;
    const runs = Boolean(state) && state !== 'notRunning' && state !== 'forceQuit';
    this.kill.disabled = !runs;
    this.freeze.disabled = !runs || state === 'suspended';
    this.forceQuit.disabled = state === 'forceQuit';
    if (!this.link.mayUse) for (const button of this.element.querySelectorAll('button')) button.disabled = true;
    this.lock.textContent = this.isLocked ? t('phones.do.unlock') : t('phones.do.lock');
    for (const [name, button] of this.switches) button.setAttribute('aria-checked', String(Boolean(screen[name])));
  }
}

/** On and Off, of which neither is marked until it is known. */
function makeChoice(label, options, choose, known) {
  const id = makeId('choice');
  const buttons = options.map(([value, words]) => h('button.phones-choice', {
    type: 'button', 'aria-pressed': String(known === value),
    on: {
      click: async (event) => {
        const pressed = event.currentTarget;
        const said = await choose(value);
        if (said.ok) for (const button of buttons) button.setAttribute('aria-pressed', String(button === pressed));
      },
    },
  }, words));
  return h('div.phones-setting', { role: 'group', 'aria-labelledby': id }, h('span', { id }, label), h('span.phones-choices', buttons));
}

/** What a person turns in Settings, of the app and of the phone. */
export function makeSettings(link) {
  const onOff = [[true, t('phones.settings.on')], [false, t('phones.settings.off')]];
  // A phone that tells how they stand is believed.
  const known = (setting) => link.screen?.apps[link.app]?.settings?.[setting];
  return h('div.phones-settings',
    h('p.phones-lead', t('phones.settings.lead')),
    h('h3', t('phones.settings.title')),
    h('div.phones-setting-list',
      SETTINGS.map((setting) => makeChoice(t(`phones.settings.${setting}`), onOff,
        (on) => link.send({ do: 'setting', app: link.app, setting, on }), known(setting))),
      makeChoice(t('phones.settings.previews'), ['always', 'whenAuthenticated',
        'never'].map((show) => [show, t(`phones.settings.previews.${show}`)]), (show) => link.send({ do: 'previews', app: link.app, show }),
        known('previews')),
      makeChoice(t('phones.settings.alertStyle'), ['none', 'banner', 'alert'].map((style) => [style, t(`phones.settings.alertStyle.${style}`)]),
        (style) => link.send({ do: 'alert_style', app: link.app, style }), known('alertStyle'))),
    h('h3', t('phones.settings.phone')),
    h('div.phones-setting-list',
      makeChoice(t('phones.settings.mute'), onOff, (on) => link.send({ do: 'mute', on })),
      makeChoice(t('phones.settings.wholeRefresh'), onOff, (on) => link.send({ do: 'background_refresh', on }))));
}

const EXAMPLES = {
  alert: { aps: { alert: { title: 'Ready', body: 'Your order can be picked up' }, sound: 'default', badge: 1 } },
  silent: { aps: { 'content-available': 1 } },
};

/** A push that comes to the phone without APNs, as JSON. */
export function makePush(link) {
  const id = makeId('push');
  const size = h('span.phones-note');
  const problem = h('p.phones-problem', { role: 'alert' });
  const area = h('textarea.phones-code', { id, rows: '9', spellcheck: 'false', on: { input: () => count() } },
    JSON.stringify(EXAMPLES.alert, null, 2));
  const count = () => { size.textContent = t('phones.push.size', { n: new TextEncoder().encode(area.value).length }); };
  count();
  const send = async () => {
    problem.textContent = '';
    let payload;
    try { payload = JSON.parse(area.value); } catch (error) { problem.textContent = t('phones.push.bad', { detail: error.message }); return; }
    await link.send({ do: 'push', app: link.app, payload,
      ...(payload.aps?.['content-available'] && !payload.aps.alert ? { push_type: 'background' } : {}) });
  };
  const example = (name) => makeButton(t(`phones.push.${name}`), () => { area.value = JSON.stringify(EXAMPLES[name], null, 2); count(); },
    { kind: '.is-quiet' });
  return h('div.phones-push', h('p.phones-lead', t('phones.push.lead')), h('label', { for: id }, t('phones.push.payload')), area,
    h('div.phones-row', makeButton(t('phones.push.send'), send, { kind: '.is-main' }), example('alert'), example('silent'), size), problem);
}

/** iOS version, life cycle and delegate methods: with what a phone is started. `start(body)` starts one. */
export function makeSetup(facts, { versions, start, isNew = false }) {
  const field = (name, control) => h('label.phones-field', h('span', t(`phones.setup.${name}`)), control);
  const select = (name, options) => h('select.phones-select', { value: facts[name] },
    options.map(([value, words]) => h('option', { value }, words)));
  const version = h('select.phones-select', { value: facts.ios },
    [...new Set([facts.ios, ...versions])].map((ios) => h('option', { value: ios }, `iOS ${ios}`)));
  const lifecycle = select('lifecycle', ['scenes', 'application'].map((style) => [style, t(`phones.lifecycle.${style}`)]));
  const delegate = select('delegate', ['modern', 'legacy'].map((style) => [style, t(`phones.setup.delegate.${style}`)]));
  const name = isNew ? h('input.phones-input', { type: 'text', value: '', required: true, pattern: '[A-Za-z0-9_\\-]{1,64}',
    autocomplete: 'off' }) : null;
  const said = h('p.phones-said', { role: 'status' });
  const form = h('form.phones-setup', {
    on: {
      submit: async (event) => {
        event.preventDefault();
        const button = form.querySelector('button');
        button.disabled = true;
        said.textContent = '';
        try {
          await start({ id: name ? name.value : facts.id, user: name ? name.value : facts.user, ios: version.value, lifecycle: lifecycle.value,
            delegate: delegate.value });
          said.textContent = t('phones.setup.started');
        } catch (problem) {
          said.textContent = t('phones.setup.failed', { detail: problem.detail || problem.message });
        }
        button.disabled = false;
      },
    },
  },
  h('div.phones-fields', name ? h('label.phones-field', h('span', t('phones.start.name')), name) : null, field('ios', version),
    field('lifecycle', lifecycle), field('delegate', delegate)),
  h('p.phones-note', t('phones.setup.scenesNeed13')),
  h('div.phones-row', h('button.phones-button.is-main', { type: 'submit' }, t(isNew ? 'phones.start.go' : 'phones.setup.apply'))), said);
  return form;
}
