// The life of one message: from the disk to each device, with every wait, its end, and a sentence that says why.

import { h, s, shape, bdi } from './dom.js';
import { api, path, curlOf } from './api.js';
import { t, tx, tn, hasText, number, exactClock, date, dateTime, duration, timeElement } from './text.js';
import { addressOf } from './address.js';
import { pageHead, card, facts, idChip, chip, button, note, codeBlock, curlBlock, personLink, strangerText, loaded, roleNote, disclosure, confirmAction, emptyState, problemBox } from './widgets.js';
import { legChip, endKind, sentences, answerWords, testsList, remedy } from './legs.js';
import { deviceLink, deviceName, knowDevices } from './devices.js';
import { LEG_TYPES, eventsOf, keep } from './memory.js';
import { conversationLink, readContent } from './links.js';

/** Marks of the time line: the time runs in steps of ten, so that milliseconds and hours both have room. */
const TICKS = [0, 10, 100, 1_000, 10_000, 60_000, 600_000, 3_600_000, 86_400_000];

/** What is known of each delivery: open and ended ones of the trace, and what this page has seen of them before. */
function lanesOf(app, trace) {
  const lanes = new Map();
  const lane = (user, device) => {
    const key = `${user} ${device ?? ''}`;
    if (!lanes.has(key)) lanes.set(key, { app, user, device, leg: null, receipts: [], seen: [], status: null });
    return lanes.get(key);
  };
  for (const leg of [...trace.ended_legs, ...trace.open_legs]) lane(leg.user, leg.device).leg = leg;
  for (const receipt of trace.receipts) lane(receipt.user, receipt.device).receipts.push(receipt);
  for (const device of trace.devices) lane(device.user, device.device).status = device.status;
  for (const event of eventsOf(trace.message_id)) {
    if (event.data.user) lane(event.data.user, event.data.device).seen.push(event);
  }
  for (const delivery of trace.deliveries) {
    const own = [...lanes.values()].filter((each) => each.user === delivery.user);
    for (const each of own) each.position = delivery.position;
  }
  return [...lanes.values()].filter((each) => each.leg).sort((a, b) => rank(a, trace) - rank(b, trace) || (a.user < b.user ? -1 : 1));
}

/** The sender's own devices come last: whoever asks, asks about the others. */
function rank(lane, trace) {
  if (lane.user === trace.sender) return 2;
  return lane.leg.end && endKind(lane.leg.end, lane.leg.detail) === 'good' ? 1 : 0;
}

/** A step as the server has kept it. */
function keptStep(step, { app, user }) {
  const { at, tests } = step;
  switch (step.step) {
    case 'waiting': return { at, kind: 'wait', words: t('step.waiting', { wait: t(`wait.${step.wait}`) }), until: step.until, tests };
    case 'device': return { at, kind: step.turn === 'returned' ? 'info' : 'quiet', words: hasText(`turn.${step.turn}`) ? t(`turn.${step.turn}`) : step.turn };
    case 'pushed': return { at, kind: 'wait', words: t('step.sent'), tests, request: step.request };
    case 'answered': return { at, kind: 'bad', words: t('step.answered', { answer: answerWords(step) }) };
    case 'read': return { at, kind: 'info', words: step.device ? t('step.read', { device: deviceName(app, user, step.device) }) : t('step.readByBackend') };
    default: return { at, kind: 'info', words: step.step };
  }
}

function requestFacts(request) {
  return facts([
    ['apns-id', idChip(request.apns_id)], ['apns-push-type', h('code', request.push_type)], ['apns-priority', number(request.priority)],
    ['apns-expiration', dateTime(request.expires_at)], ['apns-collapse-id', idChip(request.collapse_id)],
    ['apns-topic', h('code', request.topic)], [t('device.environment'), t(`environment.${request.environment}`)],
    request.counted_by ? [t('message.countedBy'), idChip(request.counted_by)] : null,
  ], 'facts-tight');
}

/** What stands below a step: the verdict's tests, and of a push the request. */
function stepDetails(step) {
  const tests = testsList(step.tests);
  return [
    step.request ? disclosure(t('test.request'), requestFacts(step.request)) : null,
    tests ? disclosure(t('message.tests'), tests) : null,
  ];
}

/** The steps of one delivery in their order: `{at, kind, words}`. */
function stepsOf(lane, trace) {
  const steps = [{ at: trace.sent_at, kind: 'info', words: t('step.stored') }];
  const { leg } = lane;
  for (const step of leg.steps ?? []) steps.push(keptStep(step, lane));
  // Of what the server has not kept, this page may have seen something.
  for (const { type, data } of leg.steps?.length ? [] : lane.seen) {
    if (type === 'leg_waiting') steps.push({ at: data.at, kind: 'wait', words: t('step.waiting', { wait: t(`wait.${data.wait}`) }), until: data.not_before });
    if (type === 'leg_sent') steps.push({ at: data.at, kind: 'wait', words: t('step.sent') });
    if (type === 'push_answered') {
      steps.push({
        at: data.at, kind: data.outcome === 'accepted' ? 'good' : 'bad',
        words: t('step.answered', { answer: [data.status, data.reason ?? t(`outcome.${data.outcome}`)].filter(Boolean).join(' ') }),
      });
    }
  }
  if (leg.end) steps.push({ at: leg.at, kind: endKind(leg.end, leg.detail), words: t(`end.${leg.end}`), isEnd: true, tests: leg.tests });
  for (const receipt of lane.receipts) steps.push({ at: receipt.at, kind: 'good', words: t(`step.${receipt.receipt}`) });
  return steps.sort((a, b) => a.at - b.at);
}

/** Where a time stands on the line, in per cent. */
function placeOf(after, longest) {
  const scale = (value) => Math.log10(1 + Math.max(0, value));
  return 3 + (scale(after) / scale(Math.max(longest, 100))) * 92;
}

function laneLine(lane, trace, longest) {
  const steps = stepsOf(lane, trace);
  const end = lane.leg.end ? placeOf(lane.leg.at - trace.sent_at, longest) : 97;
  const marks = steps.map((step) => {
    const x = placeOf(step.at - trace.sent_at, longest);
    return s('svg', { x: `${x}%`, y: '50%', overflow: 'visible', class: `mark mark-${step.kind}` },
      s('title', `${exactClock(step.at)} · ${step.words}`),
      s('circle', { r: 8, class: 'mark-back' }), ...markShape(step.kind));
  });
  return s('svg.lane-line', { role: 'img', 'aria-label': steps.map((step) => `${duration(step.at - trace.sent_at)} ${step.words}`).join(', ') },
    s('line', { x1: '3%', x2: `${end}%`, y1: '50%', y2: '50%', class: lane.leg.end ? 'way' : 'way way-open' }), marks);
}

function markShape(kind) {
  if (kind === 'bad') return [s('path', { d: 'M-4 -4L4 4M4 -4L-4 4' })];
  if (kind === 'wait') return [s('circle', { r: 5 }), s('path', { d: 'M0 -5a5 5 0 0 0 0 10z', class: 'full' })];
  if (kind === 'info') return [s('path', { d: 'M0 -6L6 0 0 6 -6 0z' })];
  if (kind === 'quiet') return [s('circle', { r: 5 })];
  return [s('circle', { r: 5, class: 'full' })];
}

function statusWords(lane) {
  const { status, leg } = lane;
  const off = leg.notifications_off_since ?? status?.off_since;
  if (off) return note('wait', h('p', tx('message.off', { user: lane.user, since: dateTime(off) })));
  return null;
}

function laneBox(app, lane, trace, longest) {
  const { leg } = lane;
  const advice = remedy(leg);
  const steps = stepsOf(lane, trace);
  return h('li.lane', { class: leg.end ? `lane-${endKind(leg.end, leg.detail)}` : 'lane-wait' },
    h('div.lane-head',
      h('span.lane-who', personLink(app, lane.user), lane.device
        ? [h('span.quiet', ' · '), deviceLink(app, lane.user, lane.device)]
        : h('span.quiet', ` · ${t('leg.noDeviceName')}`)),
      h('span.chips', lane.phone ? h('a', { href: addressOf('phones', { phone: lane.phone, message: trace.message_id }) }, t('message.onPhone')) : null, legChip(leg, lane.receipts))),
    laneLine(lane, trace, longest),
    h('p.lane-sentence', sentences(app, leg).map((part, index) => [index ? ' ' : null, part])),
    advice ? h('p.lane-advice', shape('info'), h('span', advice)) : null,
    lane.user === trace.sender ? null : statusWords(lane),
    disclosure(t('message.steps'), h('ol.steps', steps.map((step) => h('li',
      shape(step.kind), h('span.steps-time.mono', `+${duration(step.at - trace.sent_at)}`), h('span', step.words,
        step.until ? [' ', t('step.until', { time: dateTime(step.until) })] : null, stepDetails(step))))),
    facts([
      [t('message.position'), lane.position ?? null],
      [t('message.attempts'), leg.attempts ?? null],
      [t('message.detail'), leg.detail && leg.end !== 'token_dead' ? (leg.end === 'accepted' ? idChip(leg.detail) : bdi(leg.detail)) : null],
      leg.end === 'token_dead' && Number(leg.detail) ? [t('message.deadSince'), dateTime(Number(leg.detail))] : null,
      [t('message.apnsId'), leg.apns_id ? idChip(leg.apns_id) : null],
      leg.not_before ? [t('message.notBefore'), timeElement(leg.not_before, dateTime(leg.not_before))] : null,
      lane.status ? [t('message.authorization'), t(`authorization.${lane.status.authorization}`)] : null,
    ])));
}

function ticks(longest) {
  const shown = TICKS.filter((tick) => tick <= Math.max(longest, 100));
  return s('svg.lane-ticks', { 'aria-hidden': 'true' }, shown.map((tick) => s('text', { x: `${placeOf(tick, longest)}%`, y: 14, 'text-anchor': 'middle' }, tick === 0 ? '0' : duration(tick))));
}

/** The whole in one sentence: how many it was for, and what became of that. */
function summary(trace, lanes) {
  const others = lanes.filter((lane) => lane.user !== trace.sender);
  if (!others.length) return t('message.forNobody');
  const counts = { good: 0, pushed: 0, wait: 0, bad: 0, quiet: 0 };
  // What APNs took, a device may not have yet.
  for (const { leg, receipts } of others) counts[!leg.end ? 'wait' : leg.end === 'accepted' && !receipts.length ? 'pushed' : endKind(leg.end, leg.detail)] += 1;
  const parts = Object.entries(counts).filter(([, count]) => count).map(([kind, count]) => chip(kind === 'pushed' ? 'good' : kind, tn(`summary.${kind}`, count)));
  return h('span.chips', parts);
}

function lifeCard(app, trace, phones) {
  const lanes = lanesOf(app, trace);
  for (const lane of lanes) lane.phone = phones.find((phone) => phone.user === lane.user)?.id;
  const times = lanes.flatMap((lane) => stepsOf(lane, trace).map((step) => step.at - trace.sent_at));
  // What still waits has come as far as now.
  const longest = Math.max(100, ...times, trace.open_legs.length ? Date.now() - trace.sent_at : 0);
  return card({ title: t('message.life'), lead: t('message.lifeLead') }, summary(trace, lanes),
    lanes.length ? [h('div.lanes-scale', ticks(longest)), h('ul.lanes', lanes.map((lane) => laneBox(app, lane, trace, longest)))]
      : emptyState({ title: t('message.noLanes'), text: t('message.noLanesText') }));
}

function factsCard(app, trace) {
  return card({ title: t('message.about') }, facts([
    [t('message.storedAt'), [exactClock(trace.sent_at), h('span.quiet', ` · ${date(trace.sent_at)}`)]],
    [t('message.sender'), trace.sender ? personLink(app, trace.sender) : null],
    [t('message.author'), trace.author ? bdi(trace.author) : null],
    [t('message.conversation'), trace.conversation ? conversationLink(app, trace.conversation) : null],
    [t('message.kind'), t(`messageKind.${trace.kind}`)],
    [t('message.objectName'), trace.object_name ? h('code', trace.object_name) : null],
    [t('message.recipients'), number(trace.deliveries.length)],
    [t('message.clientId'), trace.client_message_id ? idChip(trace.client_message_id) : null],
    [t('message.recalls'), trace.recalls ? idChip(trace.recalls, { href: addressOf('apps', app, 'messages', trace.recalls) }) : null],
    [t('message.recalledBy'), trace.recall ? idChip(trace.recall, { href: addressOf('apps', app, 'messages', trace.recall) }) : null],
  ], 'facts-column'));
}

/** What it says: hidden until somebody who may asks for it, since asking is written into the audit log. */
function contentCard(page, trace) {
  const { app, signal } = page;
  const box = h('div.stack');
  const find = async () => {
    const { type, target } = trace.conversation;
    let cursor = null;
    for (let turn = 0; turn < 3; turn += 1) {
      const answer = await api.get(path`/v1/apps/${app}/conversations/${type}/${target}/messages`, { user: trace.sender, limit: 100, cursor }, { signal });
      const message = answer.messages.find((each) => each.message_id === trace.message_id);
      if (message) return message;
      cursor = answer.next;
      if (!cursor) break;
    }
    return null;
  };
  const make = (message) => {
    if (!message) return note('quiet', h('p', t('message.contentGone')));
    const text = readContent(message);
    return [
      text === null ? null : h('blockquote.said', strangerText(text)),
      message.push_text ? facts([[t('message.pushText'), strangerText(message.push_text)]]) : null,
      disclosure(t('message.raw'), codeBlock(message.content, t('message.raw')), message.push ? codeBlock(JSON.stringify(message.push, null, 2), t('compose.options')) : null),
    ];
  };
  box.append(h('p.quiet', t('message.contentLead')),
    h('div.actions', button({ label: t('message.showContent'), iconName: 'eye', role: 'content', onClick: () => box.replaceChildren(loaded(signal, find, make)) })),
    ...[roleNote('content')].filter(Boolean));
  return card({ title: t('message.content') }, box);
}

function recallButton(page, trace, reload) {
  if (trace.kind !== 'message' || trace.recall) return null;
  return button({
    label: t('message.recall'), kind: 'danger', role: 'administer',
    onClick: async () => {
      const done = await confirmAction({
        title: t('message.recallTitle'), text: t('message.recallText'), action: t('message.recall'),
        act: () => api.delete(path`/v1/apps/${page.app}/messages/${trace.message_id}`),
      });
      if (done) reload();
    },
  });
}

/** How often the message is asked for while not all events are told. */
const PASSED_OVER = 3_000;

export default async function open(page) {
  const { app, signal } = page;
  const id = page.params.id.toLowerCase();
  page.setTitle(t('title.message', { id }));
  const address = path`/v1/apps/${app}/messages/${id}/trace`;
  const body = h('div.grid.grid-wide');
  const actions = h('div.actions');
  const head = pageHead({
    title: [t('message.title'), ' ', idChip(id, { whole: true })], crumbs: [[t('nav.messages'), addressOf('apps', app, 'messages')]], actions,
  });
  page.root.append(head, body);
  let trace = null;
  // Where the server has virtual phones, a line leads to the one it is about.
  let phones = [];
  const asked = api.get('/v1/phones', null, { signal }).then((answer) => { phones = answer.phones; }, () => {});
  const side = h('div.stack');
  const life = h('div.stack');
  body.append(life, side);
  const show = () => {
    // Whoever reads the steps of a delivery keeps them open.
    const isOpen = [...life.querySelectorAll('details')].map((details) => details.open);
    life.replaceChildren(lifeCard(app, trace, phones), curlBlock(curlOf('GET', address)));
    [...life.querySelectorAll('details')].forEach((details, index) => { details.open = isOpen[index] ?? false; });
  };
  const load = async (isFirst) => {
    try {
      trace = await api.get(address, null, { signal });
    } catch (problem) {
      if (problem.name === 'AbortError') return;
      if (isFirst) life.replaceChildren(problemBox(problem, () => load(true)));
      return;
    }
    // The first drawing waits for no names.
    if (isFirst) show();
    const drawn = trace;
    Promise.all([knowDevices(app, [...trace.ended_legs, ...trace.open_legs]), asked]).then(() => {
      if (!signal.aborted && trace === drawn && !(isFirst && life.contains(document.activeElement))) show();
    });
    if (isFirst) side.replaceChildren(...[factsCard(app, trace), trace.conversation && trace.sender ? contentCard(page, trace) : null].filter(Boolean));
    actions.replaceChildren(...[recallButton(page, trace, () => load(true))].filter(Boolean));
  };
  await load(true);
  let isLoading = false;
  const reload = async () => {
    if (isLoading || (life.contains(document.activeElement) && document.activeElement.closest('details'))) return;
    isLoading = true;
    await load(false);
    isLoading = false;
  };
  let reloading;
  page.onLeave(() => clearTimeout(reloading));
  page.live(LEG_TYPES, (events) => {
    const own = events.filter((event) => event.data.message_id === id);
    if (!own.length) return;
    keep(own);
    reload();
  }, () => load(false), () => {
    // One of them may have been about this message.
    reloading ??= setTimeout(() => { reloading = undefined; reload(); }, PASSED_OVER);
  });
}
