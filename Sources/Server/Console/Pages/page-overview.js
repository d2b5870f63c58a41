// How one app is doing now.

import { h } from './dom.js';
import { api, path, readMetrics } from './api.js';
import { t, tx, tn, number, compact, percent, duration, relative, dateTime, bytes, exactClock } from './text.js';
import { addressOf } from './router.js';
import { pageHead, card, chip, note, facts, button, idChip, emptyState, skeleton, table, problemBox, personLink } from './widgets.js';
import { lineChart, barList } from './charts.js';
import { endKind, endChip } from './legs.js';
import { alarms, keep, lanes, whenAlarmsChange } from './memory.js';

const STEP = 10_000;
const STEPS = 360;
const STEPS_LEAST = 30;
const POLL = 2_000;
const SAMPLES = 2_000;
const FEED = 8;

/** An hour of what was counted while this page was looked at, by app: the server itself keeps counts, not their history. */
const histories = new Map();

class History {
  constructor() {
    this.buckets = new Map();
    this.last = null;
  }

  add(at, statistics) {
    const counts = {
      at, since: statistics.since, messages: statistics.messages.accepted + statistics.messages.custom,
      pushes: statistics.pushes.accepted + statistics.pushes.refused + statistics.pushes.unknown,
    };
    const before = this.last;
    this.last = counts;
    const key = Math.floor(at / STEP);
    const bucket = this.buckets.get(key) ?? { messages: 0, pushes: 0, seconds: 0, connections: 0 };
    // After a start of the server the counts begin anew, and a page that was away does not know when it was between.
    if (before && before.since === counts.since && at - before.at < 3 * POLL) {
      const seconds = (at - before.at) / 1_000;
      bucket.messages += counts.messages - before.messages;
      bucket.pushes += counts.pushes - before.pushes;
      bucket.seconds += seconds;
      this.rates = { messages: (counts.messages - before.messages) / seconds, pushes: (counts.pushes - before.pushes) / seconds };
    }
    bucket.connections = statistics.connections;
    this.buckets.set(key, bucket);
    for (const old of this.buckets.keys()) if (old < key - STEPS) this.buckets.delete(old);
  }

  series(now) {
    const newest = Math.floor(now / STEP);
    // As long as there is less than an hour, what there is fills the chart, from five minutes on.
    const count = Math.min(STEPS, Math.max(STEPS_LEAST, newest - Math.min(newest, ...this.buckets.keys()) + 1));
    const first = newest - count + 1;
    const keys = Array.from({ length: count }, (_, index) => first + index);
    const rate = (name) => keys.map((key) => {
      const bucket = this.buckets.get(key);
      return bucket?.seconds ? bucket[name] / bucket.seconds : null;
    });
    return {
      from: first * STEP, messages: rate('messages'), pushes: rate('pushes'),
      connections: keys.map((key) => this.buckets.get(key)?.connections ?? null),
    };
  }
}

/** How long it took from the disk to the phone or to APNs, of the newest messages whose way this page has seen. */
class Latency {
  constructor() {
    this.accepted = new Map();
    this.delivered = [];
    this.pushed = [];
  }

  take(events) {
    for (const { type, data } of events) {
      if (type === 'message_accepted') {
        this.accepted.set(data.message_id, data.at);
        if (this.accepted.size > SAMPLES * 5) this.accepted.delete(this.accepted.keys().next().value);
        continue;
      }
      const at = this.accepted.get(data.message_id);
      if (at === undefined) continue;
      const isDelivered = type === 'leg_ended' && data.end === 'settled';
      const isPushed = type === 'push_answered' && data.outcome === 'accepted' && data.kind === 'message';
      if (!isDelivered && !isPushed) continue;
      const samples = isDelivered ? this.delivered : this.pushed;
      samples.push(data.at - at);
      if (samples.length > SAMPLES) samples.splice(0, samples.length - SAMPLES);
    }
  }
}

function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

function tile(label, value, remark) {
  return h('div.tile', h('span.tile-label', label), h('span.tile-value', value), h('span.tile-note', remark ?? ''));
}

function latencyTable(latency) {
  const rows = [['overview.delivered', latency.delivered], ['overview.toAPNs', latency.pushed]].map(([key, samples]) => ({
    name: t(key), count: samples.length, sorted: [...samples].sort((a, b) => a - b),
  }));
  const at = (share) => (row) => (row.count ? duration(percentile(row.sorted, share)) : '–');
  return table({
    caption: t('overview.latency'),
    columns: [
      { label: t('overview.from'), cell: (row) => row.name },
      { label: t('overview.p50'), className: 'num', cell: at(0.5) },
      { label: t('overview.p95'), className: 'num', cell: at(0.95) },
      { label: t('overview.p99'), className: 'num', cell: at(0.99) },
      { label: t('overview.samples'), className: 'num', cell: (row) => number(row.count) },
    ],
    rows,
  });
}

function legsCard(statistics) {
  const ends = Object.entries(statistics.legs).filter(([, count]) => count > 0).sort((a, b) => b[1] - a[1]);
  const total = ends.reduce((sum, [, count]) => sum + count, 0);
  return ends.length ? barList({
    caption: t('overview.legs'),
    items: ends.map(([end, count]) => ({ label: endChip(end), kind: endKind(end), value: count, note: percent(count / total) })),
  }) : emptyState({ title: t('overview.noLegs'), text: t('overview.noLegsText') });
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
function attentionItems(app, info, credentials) {
  const items = [];
  const settings = addressOf('apps', app, 'settings');
  const keys = addressOf('apps', app, 'credentials');
  const link = (href, key) => h('a', { href }, t(key));
  if (info.suspended) items.push(['bad', tx('attention.suspended', { link: link(settings, 'attention.toSettings') })]);
  for (const lane of lanes.values()) {
    if (lane.state === 'usable') continue;
    items.push(['bad', tx(`attention.lane.${lane.state}`, { topic: lane.topic, environment: t(`environment.${lane.environment}`), reason: lane.reason ?? '–', link: link(keys, 'attention.toCredentials') })]);
  }
  if (alarms.storage?.state === 'full') items.push(['bad', tx('attention.storage', { free: bytes(alarms.storage.free_bytes) })]);
  const active = credentials.filter((credential) => credential.state === 'active');
  if (!active.length) items.push(['wait', tx('attention.noCredential', { link: link(keys, 'attention.toCredentials') })]);
  for (const credential of active) {
    const left = credential.expires_at ? credential.expires_at - Date.now() : Infinity;
    const name = credential.topics[0] ?? credential.key_id ?? credential.id;
    if (left <= 0) items.push(['bad', tx('attention.expired', { name, link: link(keys, 'attention.toCredentials') })]);
    else if (left < 30 * 86_400_000) items.push([left < 7 * 86_400_000 ? 'bad' : 'wait', tx('attention.expires', { name, when: relative(credential.expires_at), link: link(keys, 'attention.toCredentials') })]);
    for (const proof of credential.proofs) {
      if (!proof.good) items.push(['bad', tx('attention.refused', { name, reason: proof.reason ?? '–', environment: t(`environment.${proof.environment}`), link: link(keys, 'attention.toCredentials') })]);
    }
  }
  return items.sort((a, b) => (a[0] === 'bad' ? 0 : 1) - (b[0] === 'bad' ? 0 : 1));
}

function firstExpiry(credentials) {
  const times = credentials.filter((each) => each.state === 'active' && each.expires_at).map((each) => each.expires_at);
  return times.length ? Math.min(...times) : null;
}

function feedTable(app, feed) {
  return table({
    caption: t('overview.feed'),
    columns: [
      { label: t('message.id'), cell: (row) => idChip(row.message_id, { href: addressOf('apps', app, 'messages', row.message_id) }) },
      { label: t('frame.time'), cell: (row) => exactClock(row.at) },
      { label: t('message.sender'), cell: (row) => (row.sender ? personLink(app, row.sender) : '–') },
      { label: t('message.conversation'), cell: (row) => (row.conversation ? [t(`kind.${row.conversation.type}`), ' ', h('bdi', row.conversation.target)] : '–') },
      { label: t('message.recipients'), className: 'num', cell: (row) => number(row.recipients ?? 0) },
    ],
    rows: feed,
    empty: emptyState({ title: t('overview.feedEmpty'), text: t('overview.feedEmptyText') }),
  });
}

export default async function open(page) {
  const { app, signal } = page;
  const info = await api.get(path`/v1/apps/${app}`, null, { signal });
  const shownApp = info.app ?? info;
  const name = shownApp.settings?.name || app;
  page.setTitle(t('title.overview', { app: name }));
  if (!histories.has(app)) histories.set(app, new History());
  const history = histories.get(app);
  const latency = new Latency();
  const feed = [];
  let statistics = null;
  let credentials = [];
  const boxes = {
    attention: h('div.attention', { 'aria-live': 'polite' }), tiles: h('div.tiles', { 'aria-busy': 'true' }), charts: h('div.stack'), latency: h('div'), legs: h('div'),
    pushes: h('div'), server: h('div', skeleton(3)), feed: h('div'),
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
    boxes.attention, boxes.tiles,
    h('div.grid.grid-wide',
      card({ title: t('overview.hour'), lead: t('overview.hourLead') }, boxes.charts),
      h('div.stack',
        card({ title: t('overview.latency'), lead: t('overview.latencyLead') }, boxes.latency),
        card({ title: t('nav.server'), actions: h('a', { href: '/metrics' }, t('server.metrics')) }, boxes.server))),
    h('div.grid',
      card({ title: t('overview.legs'), lead: t('overview.legsLead') }, boxes.legs),
      card({ title: t('overview.pushes'), lead: t('overview.pushesLead') }, boxes.pushes)),
    card({ title: t('overview.feed'), actions: h('a', { href: addressOf('apps', app, 'messages') }, t('overview.allMessages')) }, boxes.feed));

  const showAttention = () => {
    const items = attentionItems(app, shownApp, credentials);
    boxes.attention.replaceChildren(...(items.length ? items.map(([kind, words]) => note(kind, h('p', words)))
      : [h('p.calm', chip('good', t('attention.none')))]));
  };
  const showTiles = () => {
    if (!statistics) return;
    const ends = Object.values(statistics.legs).reduce((sum, count) => sum + count, 0);
    const expiry = firstExpiry(credentials);
    boxes.tiles.removeAttribute('aria-busy');
    boxes.tiles.replaceChildren(
      tile(t('overview.connections'), compact(statistics.connections), t('overview.now')),
      tile(t('overview.messageRate'), history.rates ? number(history.rates.messages) : '–', tn('overview.inAll', statistics.messages.accepted)),
      tile(t('overview.pushRate'), history.rates ? number(history.rates.pushes) : '–', tn('overview.acceptedInAll', statistics.pushes.accepted)),
      tile(t('overview.ended'), compact(ends), t('overview.since', { time: dateTime(statistics.since) })),
      tile(t('overview.expiry'), expiry ? relative(expiry) : t('overview.noExpiry'), expiry ? dateTime(expiry) : t('overview.noExpiryText')));
  };
  let chartsAt = 0;
  const showCharts = () => {
    // A chart of an hour need not be drawn anew every two seconds, and whoever has its table open is reading.
    if (Date.now() - chartsAt < STEP / 2 || boxes.charts.querySelector('details[open]')) return;
    chartsAt = Date.now();
    const series = history.series(chartsAt);
    boxes.charts.replaceChildren(
      lineChart({ title: t('chart.rates'), unit: t('unit.perSecond'), from: series.from, step: STEP, series: [
        { name: t('chart.messages'), values: series.messages }, { name: t('chart.pushes'), values: series.pushes }] }),
      lineChart({ title: t('chart.connections'), unit: '', from: series.from, step: STEP, series: [{ name: t('chart.connections'), values: series.connections }] }));
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
      if (!statistics && problem.name !== 'AbortError') boxes.legs.replaceChildren(problemBox(problem));
      throw problem;
    }
    history.add(Date.now(), statistics);
    showTiles();
    showCharts();
    boxes.legs.replaceChildren(legsCard(statistics));
    boxes.pushes.replaceChildren(pushesCard(statistics));
  });
  repeat(10_000, async () => {
    if (document.hidden) return;
    boxes.server.replaceChildren(serverFacts(readMetrics(await api.text('/metrics', { signal })), app));
  });
  repeat(60_000, async () => {
    credentials = (await api.get(path`/v1/apps/${app}/push-credentials`, null, { signal })).push_credentials;
    showAttention();
    showTiles();
  });
  page.onLeave(whenAlarmsChange(showAttention));

  let latencyAt = 0;
  const showLatency = () => {
    if (Date.now() - latencyAt < 1_000) return;
    latencyAt = Date.now();
    boxes.latency.replaceChildren(latencyTable(latency));
  };
  boxes.latency.replaceChildren(latencyTable(latency));
  boxes.feed.replaceChildren(feedTable(app, feed));
  page.live(['message_accepted', 'leg_ended', 'push_answered'], (events) => {
    latency.take(events);
    keep(events.slice(-200));
    showLatency();
    const news = events.filter((event) => event.type === 'message_accepted').slice(-FEED).map((event) => event.data).reverse();
    if (!news.length || boxes.feed.contains(document.activeElement)) return;
    feed.unshift(...news);
    feed.length = Math.min(feed.length, FEED);
    boxes.feed.replaceChildren(feedTable(app, feed));
  });
}

