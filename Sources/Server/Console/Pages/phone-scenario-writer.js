// Writes what was done to a phone as a scenario of docs/testing/scenarios.md. Two kinds: the rules of iOS with a simulated app, where every call is
// expected, or the example app's own code with a server.

import { CALLS, OF_NOTICE, START, STEPS, SWITCHES, flow, quote, turn, word } from './phone-scenario-words.js';

/** Writes what a recorder has kept. */
export class ScenarioWriter {
  constructor(recorder, kind) {
    const { link, start, events } = recorder;
    Object.assign(this, { link, start, events, kind, notices: recorder.notices, left: 0 });
    this.names = new Map();
    this.used = new Set();
    this.categories = new Map();
    this.known = new Set((start?.screen.list ?? []).map((notice) => notice.notification));
    this.isCode = kind === 'code';
  }

  get app() {
    return this.start?.screen.apps[this.link.app] ?? {};
  }

  nameOf(identifier) {
    if (!this.names.has(identifier)) this.names.set(identifier, `m${this.names.size + 1}`);
    return this.names.get(identifier);
  }

  // What happened, in order

  /** Commands and pushes in the order of the trace: a command counts as before the lines that it led to. */
  get happenings() {
    // Two clocks that are far apart are not told from lines that were old when they came.
    const skew = this.link.skew < 2_000 ? this.link.skew : 0;
    const commands = this.link.done.map((done) => ({ n: done.n + 0.5, wall: done.at - skew, done }));
    const arrivals = [];
    const pushed = new Set();
    for (const event of this.events) {
      if (event.event === 'push') arrivals.push({ n: event.n, wall: event.wall, push: event });
      if (event.event === 'arrival') pushed.add(event.notification);
      if (event.event === 'presentation' && !event.remote && !pushed.has(event.notification) && event.reason !== 'liveActivity') {
        arrivals.push({ n: event.n, wall: event.wall, local: event });
      }
    }
    return [...commands, ...arrivals].sort((one, other) => one.n - other.n);
  }

  callsBetween(from, to) {
    return this.events.filter((event) => event.event === 'callback' && event.n > from && event.n <= to).map((event) => this.writeCall(event));
  }

  writeCall(event) {
    const { name, response, notification, request } = event.arguments;
    const called = CALLS[name] ?? name;
    const given = [];
    if (name === 'willFinishLaunching' || name === 'didFinishLaunching') {
      if (event.arguments.remote_notification) given.push('remoteNotification');
      if (event.arguments.local_notification) given.push('localNotification');
    }
    if (name === 'sceneWillConnect' && response) given.push('notificationResponse');
    if (name.startsWith('receiveRemote') || name === 'receiveLocal') given.push(event.state);
    if (name.startsWith('handleAction')) given.push(event.arguments.identifier);
    if (name === 'receiveResponse') {
      if (/Dismiss/.test(response.action)) given.push('dismiss');
      else if (!/Default/.test(response.action)) given.push(response.action);
      if (response.text) given.push(JSON.stringify(response.text));
    }
    const id = (response?.notification ?? notification)?.request?.identifier ?? request?.identifier ?? event.arguments.identifier;
    const about = id && !name.startsWith('handleAction') && name !== 'sceneConfiguration' && this.names.has(id) ? ` of ${this.names.get(id)}`
      : '';
    const call = `${called}${given.length ? `(${given.join(', ')})` : ''}${about}`;
    return /[,"]/.test(call) ? `'${call.replaceAll('\'', '\'\'')}'` : call;
  }

  // Steps

  writePush(event) {
    const { aps = {}, ...data } = event.payload ?? {};
    const id = event.notification ?? event.collapse_id ?? this.events.find((other) => other.event === 'arrival' && other.delivery === event.delivery)?.notification;
    if (this.isCode && data.tidings && data.rc?.fId && this.readText(event)) {
      return this.writeMessage(id, data.rc.fId, this.readText(event));
    }
    const push = { id: this.nameOf(id) };
    const headers = {};
    if (['alert', 'background', 'voip'].includes(event.push_type)) headers['apns-push-type'] = event.push_type;
    if (event.collapse_id) headers['apns-collapse-id'] = event.collapse_id;
    if (Object.keys(headers).length && !this.isCode) push.headers = headers;
    for (const name of ['alert', 'badge', 'sound', 'thread-id', 'category', 'content-available', 'mutable-content', 'target-content-id',
      'interruption-level', 'relevance-score', 'filter-criteria']) {
      if (aps[name] !== undefined) push[name] = aps[name];
    }
    if (Object.keys(data).length) push.data = data;
    this.noteCategory(id, aps.category);
    return [['push', push]];
  }

  /** Somebody writes, and it is told: whatever is done next finds it in the list. */
  writeMessage(identifier, from, text) {
    const id = this.nameOf(identifier);
    return [['message', { id, from, to: this.link.facts.user, text }], ['expect', { list: { anywhere: [id] }, within: word('30 s') }]];
  }

  readText(event) {
    return event.payload?.tidings?.text?.body ?? this.notices.get(event.collapse_id)?.body;
  }

  writeLocal(event) {
    const notice = this.notices.get(event.notification);
    const id = this.nameOf(event.notification);
    if (this.isCode) {
      const from = /^PR:(.+)$/.exec(notice?.thread ?? '')?.[1];
      if (from && notice.body) return this.writeMessage(event.notification, from, notice.body);
      return [[null, `a local notification of the app: ${notice?.title ?? ''} ${notice?.body ?? event.notification}`]];
    }
    const category = this.findCategory(event.notification);
    this.noteCategory(event.notification, category);
    return [['local', {
      id, ...(notice?.title ? { title: notice.title } : {}), ...(notice?.body ? { body: notice.body } : {}),
        ...(event.sound ? {} : { sound: word('no') }),
      ...(Number.isInteger(event.badge) ? { badge: event.badge } : {}), ...(category ? { category } : {}),
        ...(notice?.thread ? { thread: notice.thread } : {}),
    }]];
  }

  findCategory(identifier) {
    for (const event of this.events) {
      const request = event.arguments?.notification?.request ?? event.arguments?.response?.notification?.request;
      if (request?.identifier === identifier) return request.content.category || null;
    }
    // Nothing tells it; a category with the same buttons is as good.
    const actions = this.notices.get(identifier)?.actions ?? [];
    if (!actions.length) return null;
    const same = (other) => JSON.stringify(other) === JSON.stringify(actions);
    for (const event of this.events) {
      if (event.payload?.aps?.category && same(this.notices.get(event.collapse_id)?.actions)) return event.payload.aps.category;
    }
    return 'actions';
  }

  noteCategory(identifier, category) {
    const actions = this.notices.get(identifier)?.actions ?? [];
    if (category && actions.length) this.categories.set(category, actions);
  }

  writeCommand({ command }) {
    const { do: name, notification } = command;
    if (STEPS[name]) return [STEPS[name](command)];
    if (name === 'setting' && SWITCHES.has(command.setting)) return [['set', { [command.setting]: turn(command.on) }]];
    if (OF_NOTICE[name]) {
      this.used.add(notification);
      return [[OF_NOTICE[name], this.nameOf(notification)]];
    }
    if (name === 'action') {
      this.used.add(notification);
      return [['action', { id: command.action, on: this.nameOf(notification), ...(command.text === undefined ? {} : { text: command.text }) }]];
    }
    // What arrived is in the trace, but not how it was written.
    if (name === 'push') {
      const arrival = this.events.find((event) => event.event === 'arrival' && !this.names.has(event.notification) && event.notification.startsWith('push-'));
      return this.writePush({ payload: command.payload, push_type: command.push_type,
        notification: arrival?.notification ?? `push-${this.names.size}` });
    }
    if (name === 'touch' && this.isCode) return [this.writeTouch(command)];
    if (name === 'expand' || name === 'collapse') return [];
    return [[null, JSON.stringify(command)]];
  }

  writeTouch({ view, action = 'tap', text, direction, ...others }) {
    if (action === 'tap' && view) return ['press', view];
    if (action === 'enter') return ['enter', { ...(view ? { into: view } : {}), text }];
    if (action === 'submit' && view) return ['submit', view];
    if (action === 'long_press' && view) return ['hold', view];
    if (action === 'scroll') return ['scroll', { direction, ...(view ? { in: view } : {}) }];
    if (action === 'swipe') return ['swipe', { on: view, direction }];
    return [null, JSON.stringify({ do: 'touch', view, action, ...others })];
  }

  /** What happened with its steps; typing into one field is one step, and what has no step leaves its calls to the one before. */
  get written() {
    const all = this.happenings;
    const written = [];
    all.forEach((happening, index) => {
      const { command } = happening.done ?? {};
      const next = all[index + 1]?.done?.command;
      if (this.isCode && command?.action === 'enter' && next?.action === 'enter' && next.view === command.view) return;
      const steps = happening.push ? this.writePush(happening.push) : happening.local ? this.writeLocal(happening.local)
        : this.writeCommand(happening.done);
      const lines = steps.map(([name, value]) => (name ? `      - ${name}: ${flow(value)}` : `      # ${value.replaceAll('\n', ' ')}`));
      this.left += steps.filter(([name]) => !name).length;
      if (steps.some(([name]) => name)) written.push({ ...happening, lines });
      else if (written.length) written.at(-1).remarks = [...(written.at(-1).remarks ?? []), ...lines];
    });
    return written;
  }

  /** Steps, the time between them, and the calls that followed each. */
  get steps() {
    const { written } = this;
    const last = this.events.at(-1);
    return written.flatMap((happening, index) => {
      const next = written[index + 1];
      const gap = ((next?.wall ?? last?.wall ?? happening.wall) - happening.wall) / 1_000;
      const lines = [...happening.lines];
      if (gap >= 1 && (next || !this.isCode)) lines.push(`      - wait: ${Math.round(Math.min(gap, this.isCode ? 60 : 86_400))} s`);
      if (!this.isCode) lines.push(...this.writeExpectation(this.callsBetween(happening.n,
        next ? Math.floor(next.n - 0.01) : last?.n ?? this.start.n)));
      return [...lines, ...(happening.remarks ?? [])];
    });
  }

  writeExpectation(calls) {
    if (!calls.length) return ['      - expect: {callbacks: []}'];
    // On iOS 8 and 9 the simulated app asks at its first launch alone.
    const asked = 'didRegisterUserNotificationSettings';
    if (calls.includes(asked)) return [`      # ${asked} came, too`, ...this.writeExpectation(calls.filter((call) => call !== asked))];
    if (calls.join(', ').length < 80) return [`      - expect: {callbacks: [${calls.join(', ')}]}`];
    return ['      - expect:', '          callbacks:', ...calls.map((call) => `            - ${call}`)];
  }

  // The file

  get phone() {
    const { screen } = this.start;
    const lines = [`ios: ${this.link.facts.ios}`];
    if (screen.lock === 'locked' && !this.isCode) lines.push('locked: yes');
    if (screen.airplane) lines.push('airplaneMode: on');
    if (screen.low_power) lines.push('lowPowerMode: on');
    if (screen.focus) lines.push('focus: timeSensitive');
    // The payload of Tidings is larger than iOS took then.
    if (Number.parseInt(this.link.facts.ios, 10) < 9) lines.push('payloadLimit: 4096');
    return `phone: {${lines.join(', ')}}`;
  }

  /** How the app answered what iOS asked it, where the trace tells. */
  get answers() {
    const asked = new Map();
    const answers = {};
    for (const event of [...this.link.trace, ...this.events]) {
      if (event.event === 'callback') asked.set(event.number, event.arguments.name);
      if (event.event !== 'completion') continue;
      const name = asked.get(event.number);
      if (name === 'willPresent') {
        answers.willPresent = [[16, 'banner'], [8, 'list'], [4, 'alert'], [2, 'sound'],
          [1, 'badge']].filter(([bit]) => (event.result.options & bit) !== 0).map(([, word]) => word);
      }
      if (name === 'receiveRemoteFetch') answers.didReceiveRemoteNotificationFetch = ['newData', 'noData',
        'failed'][event.result.fetch] ?? 'newData';
    }
    return answers;
  }

  /** How long the app kept itself awake in the background, from what was seen of it. */
  get backgroundTime() {
    const events = [...this.link.trace, ...this.events].filter((event) => event.event === 'state');
    let entered = null;
    let suspended = 0;
    let awake = 0;
    for (const event of events) {
      const length = entered === null ? 0 : event.wall - entered;
      if (event.state === 'suspended') suspended = Math.max(suspended, length);
      awake = Math.max(awake, length);
      entered = event.state === 'backgroundRunning' ? event.wall : null;
    }
    // An app that was never seen to be suspended stays awake as long as it was seen.
    const seconds = Math.ceil((suspended || awake) / 1_000 - 0.5);
    return seconds > 5 ? seconds : null;
  }

  writeApp() {
    const { facts } = this.link;
    const lines = ['app:'];
    if (this.isCode) lines.push('  executable: ChatApp', '  extension: ChatNotificationService', `  bundle: ${facts.app}`);
    if (facts.lifecycle !== 'scenes') lines.push(`  lifecycle: ${facts.lifecycle}`);
    if (facts.implements) lines.push(`  implements: ${flow(facts.implements)}`);
    if (this.isCode) {
      lines.push('  backgroundModes: [remote-notification, fetch, voip]', '  refreshTask: com.example.chat.refresh', '  environment:',
        '    CHAT_SERVER_URL: "${gateway}"', '    CHAT_API_URL: "${phones}"', '    CHAT_APP_KEY: demo', `    CHAT_USER: ${quote(facts.user)}`,
        `    CHAT_TOKEN: ${JSON.stringify(`\${token of ${facts.user}}`)}`);
      if (facts.lifecycle !== 'scenes') lines.push(`    CHAT_LIFECYCLE: ${facts.lifecycle}`);
      if (facts.delegate === 'legacy') lines.push('    CHAT_DELEGATE: legacy');
      if (facts.methods?.some((method) => !facts.implements.includes(method))) lines.push(`    CHAT_IMPLEMENTS: "${facts.implements.join(',')}"`);
      // A server that gives up a silent connection soon, as that of the demo.
      return [...lines, 'server: {settings: {lease.grace_milliseconds: 200}}'];
    }
    lines.push('  backgroundModes: [remote-notification, fetch]', '  registers: everyLaunch', '  refreshTask: yes');
    const background = this.backgroundTime;
    if (background) lines.push(`  backgroundTask: {endsAfter: ${background} s}`);
    if (Object.keys(this.answers).length) lines.push(`  answers: ${flow(this.answers)}`);
    if (this.categories.size) {
      lines.push('  categories:',
        ...[...this.categories].map(([id,
        actions]) => `    - ${flow({ id, actions: actions.map((action) => ({ id: action.action, title: action.title, ...(action.text ? { textInput: word('yes') } : {}) })) })}`));
    }
    return lines;
  }

  /** Notifications that were in the list at the beginning and were used later come first, outside of what is expected. */
  get before() {
    const wanted = [...this.used].filter((id) => this.known.has(id)).reverse();
    if (!wanted.length) return [];
    const pushes = wanted.map((id) => {
      const notice = this.notices.get(id);
      return `      - push: ${flow({ id: this.nameOf(id), alert: { ...(notice.title ? { title: notice.title } : {}), body: notice.body || ' ' }, ...(notice.thread ? { 'thread-id': notice.thread } : {}) })}`;
    });
    return this.isCode ? [...pushes, `      - expect: {list: ${flow(wanted.map((id) => this.nameOf(id)).reverse())}}`]
      : [...pushes, '      - clear: trace'];
  }

  /** In the app's own code a case begins with an app that does not run. */
  get way() {
    const { screen } = this.start;
    const { state } = this.app;
    if (!this.isCode || !state || state === 'notRunning' || state === 'forceQuit') return [];
    // Until the server knows its token, nothing is pushed to it.
    const lines = ['      - person: open',
      '      - expect: {state: foreground active, says: {anywhere: ["connection: connected"]}, within: 20 s}', '      - wait: 2 s'];
    if (state === 'suspended' || state === 'backgroundRunning') lines.push('      - person: home');
    if (screen.lock === 'locked') lines.push('      - person: lock');
    return lines;
  }

  write() {
    if (!this.start) return { text: '', left: 0 };
    const steps = this.steps;
    const { state } = this.app;
    const start = this.start.screen.lock === 'beforeFirstUnlock' ? 'before first unlock' : START[state] ?? 'not running';
    const text = [
      `title: ${quote(`What was done to the iPhone of ${this.link.facts.user ?? this.link.id}`)}`,
      this.phone,
      ...this.writeApp(),
      ...(this.isCode ? ['caseTime: 10 min'] : []),
      'cases:',
      '  - case: as it was done',
      ...(this.isCode ? [] : [`    start: ${start}`]),
      '    steps:',
      ...this.way, ...this.before, ...steps,
      ...(this.isCode ? [`      - expect: {state: ${START[this.link.screen?.apps[this.link.app]?.state] ?? 'not running'}, badge: ${this.link.screen?.badges[this.link.app] ?? 0}, within: 30 s}`] : []),
    ].join('\n');
    return { text: `${text}\n`, left: this.left };
  }
}
