// How one app is doing now.

import { h, bdi } from './dom.js';
import { api, path, readMetrics } from './api.js';
import { t, tx, tn, number, compact, percent, duration, relative, dateTime, bytes } from './text.js';
import { addressOf } from './address.js';
import { pageHead, card, chip, note, facts, button, emptyState, skeleton, table, problemBox, disclosure } from './widgets.js';
import { lineChart, barList } from './charts.js';
import { MessageList, messageLines, knowDevicesOf, slowestOf } from './message-list.js';
import { startSteps } from './overview-start.js';
import { endKind, endChip } from './legs.js';
import { LEG_TYPES, alarms, keep, lanes, whenAlarmsChange } from './memory.js';

const POLL = 2_000;
const HISTORY_POLL = 10_000;
const STEPS_POLL = 10_000;
/** As long as there is less than an hour, what there is fills the chart, from five minutes on. */
const STEPS_LEAST = 30;
const FEED = 6;
const SLOWEST = 3;

/** How many a second there were between two answers of the server. */
class Rates {
  add(at, statistics) {
    const counts = {
      at, since: statistics.since, messages: statistics.messages.accepted + statistics.messages.custom,
      pushes: statistics.pushes.accepted + statistics.pushes.refused + statistics.pushes.unknown + statistics.pushes.not_sent,
    };
    const before = this.last;
    this.last = counts;
    // After a start of the server the counts begin anew.
    if (before?.since !== counts.since) return;
    const seconds = (at - before.at) / 1_000;
    this.messages = (counts.messages - before.messages) / seconds;
    this.pushes = (counts.pushes - before.pushes) / seconds;
  }
}

/** The lists of a history with as many unknown steps before them as a chart needs. The step under way is not over: it would always fall. */
function chartLists(history) {
  const count = history.connections.length;
  const shown = Math.max(1, count - 1);
  const missing = Math.max(0, STEPS_LEAST - shown);
  const fill = (list) => [...Array(missing).fill(null), ...list.slice(0, shown)];
  const seconds = history.step_ms / 1_000;
  const pushes = history.connections.map((_, index) => Object.values(history.pushes).reduce((sum, list) => sum + list[index], 0));
  return {
    from: history.from - missing * history.step_ms, step: history.step_ms, fill,
    rate: (list) => fill(list.map((value) => value / seconds)), pushes,
  };
}

function historyCharts(history) {
  const { from, step, fill, rate, pushes } = chartLists(history);
  const percentiles = (ways) => ['p50_ms', 'p95_ms', 'p99_ms'].map((key) => ({ name: t(`chart.${key.slice(0, 3)}`), values: fill(ways[key]) }));
  const chart = (title, series, more) => lineChart({ title: t(title), from, step, series, ...more });
  return [
    chart('chart.rates', [{ name: t('chart.messages'), values: rate(history.messages) }, { name: t('chart.pushes'), values: rate(pushes) }], { unit: t('unit.perSecond') }),
    chart('chart.delivered', percentiles(history.delivered), { isTime: true }),
    chart('chart.toAPNs', percentiles(history.to_apns), { isTime: true }),
    chart('chart.queue', [{ name: t('chart.waiting'), values: fill(history.queue.waiting) }, { name: t('chart.inFlight'), values: fill(history.queue.in_flight) }]),
  ];
}

function tile(label, value, remark) {
  return h('div.tile', h('span.tile-label', label), h('span.tile-value', value), h('span.tile-note', remark ?? ''));
}

function latencyTable({ latency }) {
  const rows = [['overview.delivered', latency.delivered], ['overview.toAPNs', latency.to_apns]].flatMap(([key, ways]) => ['five_minutes', 'hour'].map((span) => ({
    name: t('overview.fromRow', { what: t(key), span: t(span === 'hour' ? 'overview.hour.short' : 'overview.five_minutes') }), ways: ways[span],
  })));
  const at = (key) => (row) => (row.ways[key] === null ? '–' : duration(row.ways[key]));
  return table({
    caption: t('overview.latency'),
    columns: [
      { label: t('overview.from'), cell: (row) => row.name },
      { label: t('overview.p50'), className: 'num', cell: at('p50_ms') },
      { label: t('overview.p95'), className: 'num', cell: at('p95_ms') },
      { label: t('overview.p99'), className: 'num', cell: at('p99_ms') },
      { label: t('overview.samples'), className: 'num', cell: (row) => number(row.ways.count) },
    ],
    rows,
  });
}

/** What waits for APNs, topic by topic, and what holds it. */
function lanesTable({ lanes }) {
  return table({
    caption: t('overview.lanes'),
    columns: [
      { label: t('lanes.topic'), cell: (row) => [row.topic ? bdi(row.topic) : t('lanes.all'), ' ', h('span.quiet', t(`environment.${row.environment}`))] },
      { label: t('frame.state'), cell: (row) => (row.state === 'usable' ? chip('good', t('lanes.usable'))
        : [chip('bad', t('lanes.paused')), ' ', t(`lanes.${row.state}`), row.reason ? [' ', h('code', bdi(row.reason))] : '']) },
      { label: t('lanes.waiting'), className: 'num', cell: (row) => number(row.waiting) },
      { label: t('lanes.inFlight'), className: 'num', cell: (row) => number(row.in_flight) },
    ],
    rows: lanes,
    empty: emptyState({ title: t('lanes.none'), text: t('lanes.noneText') }),
  });
}

/** No delivery to anybody: the sender's own devices, and what never rings. They come last, with no share. */
const NO_DELIVERIES = ['own_device', 'not_notifiable'];

function endBars(all, caption) {
  const counts = Object.fromEntries(Object.entries(all).filter(([end]) => !NO_DELIVERIES.includes(end)));
  const others = NO_DELIVERIES.reduce((sum, end) => sum + (all[end] ?? 0), 0);
  const ends = Object.entries(counts).filter(([, count]) => count > 0).sort((a, b) => b[1] - a[1]);
  const total = ends.reduce((sum, [, count]) => sum + count, 0);
  const items = ends.map(([end, count]) => ({ label: endChip(end), kind: endKind(end), value: count, note: percent(count / total) }));
  return ends.length ? h('div.stack', barList({ caption, items }), others ? h('p.quiet', t('overview.ownEnds', { n: number(others) })) : null) : null;
}

/** How deliveries ended: in the last hour, and folded away since the start. What is folded open stays open. */
class EndsCard {
  constructor() {
    this.hour = h('div', skeleton(4));
    this.all = h('div');
    this.more = disclosure(t('overview.legsAll'), this.all);
    this.more.hidden = true;
    this.element = h('div.stack', this.hour, this.more);
  }

  show({ legs, legs_hour: hour }) {
    this.all.replaceChildren(endBars(legs, t('overview.legsAll')) ?? '');
    this.more.hidden = !this.all.firstElementChild;
    this.hour.replaceChildren(endBars(hour, t('overview.legs'))
      ?? emptyState(this.more.hidden ? { title: t('overview.noLegs'), text: t('overview.noLegsText') } : { title: t('overview.noLegsHour') }));
  }
}

/** Waits that end by themselves, and those that somebody has to see to. */
const WAITS_BAD = ['config_fault', 'breaker_open', 'provider_down'];

function waitsCard(app, { open_legs: open }) {
  const waits = Object.entries(open.waits).filter(([, count]) => count > 0).sort((a, b) => b[1] - a[1]);
  return waits.length ? barList({
    caption: t('overview.waits'),
    items: waits.map(([wait, count]) => {
      const kind = WAITS_BAD.includes(wait) ? 'bad' : 'wait';
      const found = addressOf('apps', app, 'messages', { find: 'legs', wait });
      return { label: h('a', { href: found }, chip(kind, t(`wait.${wait}`))), kind, value: count, note: percent(count / open.total) };
    }),
  }) : h('p.calm', chip('good', t('overview.noWaits')));
}

function pushesCard(statistics) {
  const kinds = { accepted: 'good', refused: 'bad', unknown: 'wait', not_sent: 'bad' };
  const items = Object.entries(kinds).map(([name, kind]) => ({ label: chip(kind, t(`outcome.${name}`)), kind, value: statistics.pushes[name] ?? 0 }));
  return h('div.stack', barList({ caption: t('overview.pushes'), items }), facts([
    [t('receipt.shown'), number(statistics.receipts.shown)], [t('receipt.opened'), number(statistics.receipts.opened)],
  ]));
}

/** What the text of /metrics says of the whole server that somebody looks at first. */
function serverFacts(metrics, app) {
  const sum = (name, fits = () => true) => metrics.filter((each) => each.name === name && fits(each.labels)).reduce((total, each) => total + each.value, 0);
  const has = (name) => metrics.some((each) => each.name === name);
  const of = (labels) => labels.client === app;
  const bugs = sum('tidings_bugs') + sum('tidings_bugs_total');
  return facts([
    [t('server.connections'), number(sum('tidings_gateway_connections'))],
    [t('server.inFlight'), number(sum('tidings_pushes_in_flight'))],
    [t('server.queue'), number(sum('apns_client_waiting', of))],
    [t('server.apnsConnections'), number(sum('apns_client_connections', of))],
    has('tidings_storage_free_bytes') ? [t('server.disk'), bytes(sum('tidings_storage_free_bytes'))] : null,
    has('tidings_search_behind_records') ? [t('server.searchBehind'), number(sum('tidings_search_behind_records'))] : null,
    [t('server.refusedByLimits'), number(sum('tidings_limits_refused_total') || sum('tidings_limits_refused'))],
    [t('server.bugs'), bugs ? chip('bad', number(bugs)) : number(0)],
  ], 'facts-tight');
}

/** What somebody should look at now, the worst first; each with where to go. */
function attentionItems(app, info, credentials, webhooks, told) {
  const items = [];
  const settings = addressOf('apps', app, 'settings');
  const keys = addressOf('apps', app, 'credentials');
  const link = (href, key) => h('a', { href }, t(key));
  const toKeys = () => link(keys, 'attention.toCredentials');
  if (info.suspended) items.push(['bad', tx('attention.suspended', { link: link(settings, 'attention.toSettings') })]);
  // What the server tells of lanes now goes before what was heard of them: a page that was just opened has heard nothing.
  for (const lane of told ?? lanes.values()) {
    if (lane.state === 'usable' && !lane.refused_tokens) continue;
    items.push(['bad', tx(`attention.lane.${['breaker_open', 'token_refused', 'usable'].includes(lane.state) ? 'burst' : lane.state}`, { topic: lane.topic ?? t('lanes.all'), environment: t(`environment.${lane.environment}`), reason: lane.reason ?? '–', link: toKeys() })]);
  }
  if (alarms.storage?.state === 'full') items.push(['bad', tx('attention.storage', { free: bytes(alarms.storage.free_bytes) })]);
  const active = credentials.filter((credential) => credential.state === 'active');
  if (!active.length) items.push(['wait', tx('attention.noCredential', { link: toKeys() })]);
  for (const credential of active) {
    const left = credential.expires_at ? credential.expires_at - Date.now() : Infinity;
    const name = credential.topics[0] ?? credential.key_id ?? credential.id;
    if (left <= 0) items.push(['bad', tx('attention.expired', { name, link: toKeys() })]);
    else if (left < 30 * 86_400_000) items.push([left < 7 * 86_400_000 ? 'bad' : 'wait', tx('attention.expires', { name, when: relative(credential.expires_at), link: toKeys() })]);
    for (const proof of credential.proofs) {
      if (!proof.good) items.push(['bad', tx('attention.refused', { name, reason: proof.reason ?? '–', environment: t(`environment.${proof.environment}`), link: toKeys() })]);
    }
  }
  for (const { id, name, state } of webhooks) {
    if (state.dead_letters) items.push(['bad', tx('attention.deadLetters', { n: number(state.dead_letters), link: h('a', { href: addressOf('apps', app, 'webhooks', id) }, bdi(name)) })]);
  }
  return items.sort((a, b) => (a[0] === 'bad' ? 0 : 1) - (b[0] === 'bad' ? 0 : 1));
}

function firstExpiry(credentials) {
  const times = credentials.filter((each) => each.state === 'active' && each.expires_at).map((each) => each.expires_at);
  return times.length ? Math.min(...times) : null;
}

/** Shows the newest messages, and those that took longest. */
class Feed {
  constructor(app) {
    this.app = app;
    this.list = new MessageList();
    this.element = h('div', skeleton(3));
    this.slowest = h('div');
  }

  rows(most) {
    return this.list.rows({ most, fits: () => true, withFiller: false }).rows;
  }

  async load(signal) {
    const legs = path`/v1/apps/${this.app}/legs`;
    for (const kind of [{ state: 'open' }, {}]) this.list.takeLegs((await api.get(legs, { ...kind, limit: 100 }, { signal })).legs);
    await knowDevicesOf(this.app, this.rows(FEED));
    this.isLoaded = true;
    this.show();
    const rows = this.rows(this.list.messages.size);
    const count = rows.reduce((sum, row) => sum + row.legs.length, 0);
    const slow = slowestOf(rows, SLOWEST);
    this.slowest.replaceChildren(...(slow.length ? [h('h3', t('overview.slowest')), h('p.quiet', tn('overview.slowestLead', count)), messageLines(this.app, slow, t('overview.slowest'))] : []));
  }

  show() {
    if (!this.isLoaded || this.element.contains(document.activeElement)) return;
    const rows = this.rows(FEED);
    this.element.replaceChildren(rows.length ? messageLines(this.app, rows, t('overview.feed')) : emptyState({ title: t('overview.feedEmpty'), text: t('overview.feedEmptyText') }));
  }
}

export default async function open(page) {
  const { app, signal } = page;
  const info = await api.get(path`/v1/apps/${app}`, null, { signal });
  const shownApp = info.app ?? info;
  const name = shownApp.settings?.name || app;
  page.setTitle(t('title.overview', { app: name }));
  const rates = new Rates();
  const feed = new Feed(app);
  const start = startSteps(app, signal);
  const rest = h('div.overview-rest');
  let statistics = null;
  let shownPauses = '';
  let credentials = [];
  let webhooks = [];
  const ends = new EndsCard();
  const boxes = {
    attention: h('div.attention', { 'aria-live': 'polite' }), tiles: h('div.tiles', { 'aria-busy': 'true' }), charts: h('div.charts', skeleton(5)), latency: h('div', skeleton(4)),
    lanes: h('div', skeleton(2)), waits: h('div', skeleton(2)), pushes: h('div', skeleton(4)), server: h('div', skeleton(3)), since: h('p.quiet'),
  };
  page.root.append(
    pageHead({
      title: h('bdi', name),
      lead: [t('overview.lead'), shownApp.suspended ? [' ', chip('bad', t('app.suspended'))] : ''],
      actions: [
        button({ label: t('overview.why'), iconName: 'search', href: addressOf('apps', app, 'messages', { find: 'person' }) }),
        button({ label: t('pushes.new'), kind: 'primary', iconName: 'plus', href: addressOf('apps', app, 'pushes', 'new') }),
      ],
    }),
    h('section', { 'aria-label': t('overview.attention') }, boxes.attention), start.element,
    card({ title: t('overview.feed'), actions: h('a', { href: addressOf('apps', app, 'messages') }, t('overview.allMessages')) }, feed.element), rest);
  rest.append(
    boxes.tiles,
    card({ title: t('overview.hour'), lead: t('overview.hourLead') }, boxes.charts, boxes.since),
    h('div.grid',
      card({ title: t('overview.legs'), lead: t('overview.legsLead') }, ends.element),
      h('div.stack',
        card({ title: t('overview.waits'), lead: t('overview.waitsLead') }, boxes.waits),
        card({ title: t('overview.pushes'), lead: t('overview.pushesLead') }, boxes.pushes))),
    h('div.grid',
      card({ title: t('overview.latency'), lead: t('overview.latencyLead') }, boxes.latency, feed.slowest),
      h('div.stack',
        card({ title: t('overview.lanes'), lead: t('overview.lanesLead') }, boxes.lanes),
        card({ title: t('nav.server'), actions: h('a', { href: '/metrics' }, t('server.metrics')) }, boxes.server))));

  // The places of the numbers stand before the numbers do.
  boxes.tiles.replaceChildren(...['connections', 'messageRate', 'pushRate', 'ended', 'expiry'].map((key) => tile(t(`overview.${key}`), '–', '\u00a0')));

  const showAttention = () => {
    const items = attentionItems(app, shownApp, credentials, webhooks, statistics?.lanes);
    boxes.attention.replaceChildren(...(items.length ? items.map(([kind, words]) => note(kind, h('p', words)))
      : [h('p.calm', chip('good', t('attention.none')))]));
  };
  const showTiles = () => {
    if (!statistics) return;
    const ended = Object.values(statistics.legs).reduce((sum, count) => sum + count, 0);
    const expiry = firstExpiry(credentials);
    boxes.tiles.removeAttribute('aria-busy');
    boxes.tiles.replaceChildren(
      tile(t('overview.connections'), compact(statistics.connections), t('overview.now')),
      tile(t('overview.messageRate'), rates.messages === undefined ? '–' : number(rates.messages), tn('overview.inAll', statistics.messages.accepted)),
      tile(t('overview.pushRate'), rates.pushes === undefined ? '–' : number(rates.pushes), tn('overview.acceptedInAll', statistics.pushes.accepted)),
      tile(t('overview.ended'), compact(ended), t('overview.since', { time: dateTime(statistics.since) })),
      tile(t('overview.expiry'), expiry ? relative(expiry) : t('overview.noExpiry'), expiry ? dateTime(expiry) : t('overview.noExpiryText')));
  };
  const showCharts = (history) => {
    // Whoever has its table open is reading.
    if (boxes.charts.querySelector('details[open]')) return;
    boxes.charts.replaceChildren(...historyCharts(history));
    boxes.since.textContent = t('overview.historySince', { time: dateTime(history.since) });
  };

  const repeat = async (every, work) => {
    while (!signal.aborted) {
      try { await work(); } catch (problem) { if (problem.name === 'AbortError') return; }
      await new Promise((resolve) => setTimeout(resolve, every));
    }
  };
  repeat(POLL, async () => {
    if (document.hidden) return;
    try {
      statistics = await api.get(path`/v1/apps/${app}/statistics`, null, { signal });
    } catch (problem) {
      if (!statistics && problem.name !== 'AbortError') {
        ends.hour.replaceChildren(problemBox(problem));
        for (const box of [boxes.latency, boxes.lanes, boxes.waits, boxes.pushes]) box.replaceChildren(h('p.quiet', '–'));
      }
      throw problem;
    }
    rates.add(Date.now(), statistics);
    const paused = statistics.lanes.filter((lane) => lane.state !== 'usable').map((lane) => [lane.environment, lane.topic, lane.state, lane.reason].join(' ')).join();
    // It is read out, so it is not drawn anew for nothing.
    if (paused !== shownPauses) {
      shownPauses = paused;
      showAttention();
    }
    showTiles();
    boxes.latency.replaceChildren(latencyTable(statistics));
    boxes.lanes.replaceChildren(lanesTable(statistics));
    ends.show(statistics);
    // Who is about to follow a link keeps it.
    if (!boxes.waits.contains(document.activeElement)) boxes.waits.replaceChildren(waitsCard(app, statistics));
    boxes.pushes.replaceChildren(pushesCard(statistics));
  });
  repeat(HISTORY_POLL, async () => {
    if (document.hidden) return;
    try {
      showCharts(await api.get(path`/v1/apps/${app}/statistics/history`, null, { signal }));
    } catch (problem) {
      if (boxes.charts.querySelector('figure') === null && problem.name !== 'AbortError') boxes.charts.replaceChildren(problemBox(problem));
      throw problem;
    }
  });
  repeat(10_000, async () => {
    if (document.hidden) return;
    boxes.server.replaceChildren(serverFacts(readMetrics(await api.text('/metrics', { signal })), app));
  });
  repeat(60_000, async () => {
    [{ push_credentials: credentials }, { webhooks }] = await Promise.all(['push-credentials', 'webhooks'].map((each) => api.get(`${path`/v1/apps/${app}/`}${each}`, null, { signal })));
    showAttention();
    showTiles();
  });
  page.onLeave(whenAlarmsChange(showAttention));

  feed.load(signal).catch((problem) => { if (problem.name !== 'AbortError') feed.element.replaceChildren(problemBox(problem)); });
  let isNew = true;
  repeat(STEPS_POLL, async () => {
    if (!isNew || document.hidden) return;
    isNew = await start.check();
    // Where nothing was sent there is nothing to draw yet.
    rest.hidden = isNew;
  });
  page.live(LEG_TYPES, (events) => {
    keep(events.slice(-200));
    for (const event of events) feed.list.takeEvent(event);
    feed.show();
  });
}
