// What can happen to a phone beside touching its screen, and its settings.

import { h, makeId } from './dom.js';
import { t } from './text.js';
import { confirmAction } from './widgets.js';

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

/** What was chosen last of what `command` turns; undefined where nobody has chosen here. */
function lastDone(link, command, member) {
  const isSame = ({ command: done }) => done.do === command.do && done.app === command.app && done.setting === command.setting;
  return link.done.findLast(isSame)?.command[member];
}

/** A setting and its choices. Marked is what the phone tells, else what was chosen here; neither is marked until one is known. */
function makeChoice(link, { label, options, command, member, told }) {
  const id = makeId('choice');
  const show = () => {
    const known = told() ?? lastDone(link, command(), member);
    for (const [value, button] of buttons) button.setAttribute('aria-pressed', String(known === value));
  };
  const buttons = options.map(([value, words]) => [value, h('button.phones-choice', {
    type: 'button',
    on: { click: async () => { if ((await link.send({ ...command(), [member]: value })).ok) show(); } },
  }, words)]);
  show();
  link.addEventListener('change', show);
  return h('div.phones-setting', { role: 'group', 'aria-labelledby': id }, h('span', { id }, label),
    h('span.phones-choices', buttons.map(([, button]) => button)));
}

/** What a person turns in Settings, of the app and of the phone. */
export function makeSettings(link) {
  const onOff = [[true, t('phones.settings.on')], [false, t('phones.settings.off')]];
  const ofApp = (name) => () => link.screen?.apps[link.app]?.settings?.[name];
  const ofPhone = (name) => () => link.screen?.settings?.[name];
  const words = (name, values) => values.map((value) => [value, t(`phones.settings.${name}.${value}`)]);
  const lead = h('p.phones-lead');
  const say = () => {
    const text = t(ofApp('notifications')() === undefined ? 'phones.settings.lead' : 'phones.settings.leadTold');
    if (lead.textContent !== text) lead.textContent = text;
  };
  say();
  link.addEventListener('change', say);
  return h('div.phones-settings',
    lead,
    h('h3', t('phones.settings.title')),
    h('div.phones-setting-list',
      SETTINGS.map((setting) => makeChoice(link, {
        label: t(`phones.settings.${setting}`), options: onOff, command: () => ({ do: 'setting', app: link.app, setting }), member: 'on', told: ofApp(setting),
      })),
      makeChoice(link, {
        label: t('phones.settings.previews'), options: words('previews', ['always', 'whenAuthenticated', 'never']),
        command: () => ({ do: 'previews', app: link.app }), member: 'show', told: ofApp('previews'),
      }),
      makeChoice(link, {
        label: t('phones.settings.alertStyle'), options: words('alertStyle', ['none', 'banner', 'alert']),
        command: () => ({ do: 'alert_style', app: link.app }), member: 'style', told: ofApp('alertStyle'),
      })),
    h('h3', t('phones.settings.phone')),
    h('div.phones-setting-list',
      makeChoice(link, { label: t('phones.settings.mute'), options: onOff, command: () => ({ do: 'mute' }), member: 'on', told: ofPhone('mute') }),
      makeChoice(link, {
        label: t('phones.settings.wholeRefresh'), options: onOff, command: () => ({ do: 'background_refresh' }), member: 'on', told: ofPhone('backgroundRefresh'),
      })));
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

/** Check boxes, one for each method of the chosen delegate: all of them are ticked by choosing it. */
class MethodChoice {
  constructor(delegates, { delegate, implemented }) {
    this.delegates = delegates ?? {};
    this.boxes = new Map();
    this.list = h('div.phones-checks');
    this.element = h('fieldset.phones-radios', h('legend', t('phones.setup.implements')), this.list);
    this.show(delegate, implemented);
  }

  show(delegate, implemented) {
    const methods = this.delegates[delegate] ?? [];
    this.boxes = new Map(methods.map((name) => [name, h('input', { type: 'checkbox', checked: implemented?.includes(name) ?? true })]));
    this.list.replaceChildren(...methods.map((name) => h('label.phones-radio', this.boxes.get(name), h('code', name))));
    this.element.hidden = methods.length === 0;
  }

  /** Nothing where the host does not say what there is to choose from. */
  get body() {
    if (!this.boxes.size) return {};
    return { implements: [...this.boxes].filter(([, box]) => box.checked).map(([name]) => name) };
  }
}

/**
 * iOS version, life cycle and delegate methods: with what a phone is started. `start(body)` starts one. Where a phone of that name is on,
 * it asks: what is on its screen and in its trace is lost. `delegates` has the methods of each delegate.
 */
export function makeSetup(facts, { versions, delegates, start, isOn, isNew = false }) {
  const field = (name, control) => h('label.phones-field', h('span', t(`phones.setup.${name}`)), control);
  const select = (name, options) => h('select.phones-select', { value: facts[name] },
    options.map(([value, words]) => h('option', { value }, words)));
  const version = h('select.phones-select', { value: facts.ios },
    [...new Set([facts.ios, ...versions])].map((ios) => h('option', { value: ios }, `iOS ${ios}`)));
  const lifecycle = select('lifecycle', ['scenes', 'application'].map((style) => [style, t(`phones.lifecycle.${style}`)]));
  const delegate = select('delegate', ['modern', 'legacy'].map((style) => [style, t(`phones.setup.delegate.${style}`)]));
  const methods = new MethodChoice(delegates, { delegate: facts.delegate, implemented: facts.implements });
  delegate.addEventListener('change', () => methods.show(delegate.value));
  const name = isNew ? h('input.phones-input', { type: 'text', value: '', required: true, pattern: '[A-Za-z0-9_\\-]{1,64}',
    autocomplete: 'off' }) : null;
  const said = h('p.phones-said', { role: 'status' });
  const form = h('form.phones-setup', {
    on: {
      submit: async (event) => {
        event.preventDefault();
        const id = name ? name.value : facts.id;
        const body = { id, user: name ? id : facts.user, ios: version.value, lifecycle: lifecycle.value, delegate: delegate.value, ...methods.body };
        said.textContent = '';
        if (isOn(id)) {
          await confirmAction({ title: t('phones.setup.anewTitle', { name: id }), text: t('phones.setup.anewText'),
            action: t('phones.setup.apply'), act: () => start(body) });
          return;
        }
        const button = form.querySelector('button');
        button.disabled = true;
        try {
          await start(body);
        } catch (problem) {
          said.textContent = t('phones.setup.failed', { detail: problem.detail || problem.message });
        }
        button.disabled = false;
      },
    },
  },
  h('div.phones-fields', name ? h('label.phones-field', h('span', t('phones.start.name')), name) : null, field('ios', version),
    field('lifecycle', lifecycle), field('delegate', delegate)),
  methods.element,
  h('p.phones-note', t('phones.setup.scenesNeed13')),
  h('div.phones-row', h('button.phones-button.is-main', { type: 'submit' }, t(isNew ? 'phones.start.go' : 'phones.setup.apply'))), said);
  return form;
}
