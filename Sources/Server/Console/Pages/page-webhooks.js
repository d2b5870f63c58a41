// Webhooks: where the app's backend is told what happens, how it goes there, and what could not be told.

import { h, bdi, shape } from './dom.js';
import { api, path, curlOf, wrongField } from './api.js';
import { t, tn, number, date, dateTime, list, timeElement } from './text.js';
import { addressOf, go } from './address.js';
import { pageHead, card, table, button, chip, note, facts, field, textInput, select, checkbox, formDialog, showSecret, confirmAction, emptyState, idChip, roleNote, curlBlock, codeBlock, disclosure, loaded, pagedList, toast } from './widgets.js';

const TYPES = ['message_accepted', 'message_edited', 'message_recalled', 'leg_ended', 'receipt', 'device_signed_in', 'device_signed_out', 'push_job'];
/** How long the secret before goes on signing, in seconds. */
const OVERLAPS = [['0', 'none'], ['3600', 'hour'], ['86400', 'day'], ['604800', 'week']];
const POLL = 5_000;

/** Why a delivery did not arrive, in words; the status of an answer says itself. */
export function failureWords({ reason, status }) {
  return t(`webhookFailure.${reason}`, { status: status ?? '–' });
}

/** Whether the server cannot read its file of deliveries: then it says nothing of them. */
function isUnknown(state) {
  return state.pending === null;
}

/** A number of deliveries, or that it is not known: never a zero in its place. */
function count(value) {
  return value === null ? h('span.quiet', t('webhooks.unknownCount')) : number(value);
}

/** How a webhook stands: what somebody has to look at goes before what is well. */
export function webhookChip({ enabled, state }) {
  if (!enabled) return chip('quiet', t('webhooks.disabled'));
  if (isUnknown(state)) return chip('wait', t('webhooks.unknown'));
  if (state.dead_letters) return chip('bad', tn('webhooks.hasDeadLetters', state.dead_letters));
  if (state.last_failure && state.last_failure.at > (state.last_delivered_at ?? 0)) return chip('wait', t('webhooks.failing'));
  return state.last_delivered_at ? chip('good', t('webhooks.good')) : chip('quiet', t('webhooks.nothingYet'));
}

function lastFailure(state) {
  const failure = state.last_failure;
  if (isUnknown(state)) return count(null);
  return failure ? [failureWords(failure), ' ', h('span.quiet', timeElement(failure.at))] : '–';
}

function lastDelivered(state) {
  if (isUnknown(state)) return count(null);
  return state.last_delivered_at ? timeElement(state.last_delivered_at) : '–';
}

/** Checkboxes of which at least one is chosen, with a place for what is wrong with them. */
function typesField(chosen) {
  const boxes = TYPES.map((type) => [type, checkbox([t(`webhookType.${type}`), ' ', h('code.quiet', type)], chosen.includes(type))]);
  const error = h('p.field-error', { hidden: true });
  const element = h('fieldset', h('legend', t('webhooks.types')), h('div', boxes.map(([, box]) => h('div', box))), error);
  element.input = boxes[0][1].input;
  element.read = () => boxes.filter(([, box]) => box.input.checked).map(([type]) => type);
  element.fail = (text) => {
    error.hidden = !text;
    error.replaceChildren(...(text ? [shape('bad'), h('span', text)] : []));
  };
  return element;
}

/** What is asked of a webhook, when it is made and when it is changed. */
function webhookDialog({ title, action, webhook, send }) {
  const name = textInput({ value: webhook?.name ?? '', required: true, name: 'name', maxlength: 64 });
  const url = textInput({ value: webhook?.url ?? '', required: true, name: 'url', inputmode: 'url', placeholder: 'https://backend.example.com/tidings' });
  const fields = {
    name: field({ label: t('frame.name'), hint: t('webhooks.nameHint'), input: name, wide: true }),
    url: field({ label: t('webhooks.url'), hint: t('webhooks.urlHint'), input: url, wide: true }),
    types: typesField(webhook?.types ?? TYPES),
  };
  return formDialog({
    title, action, fields,
    send: () => {
      if (!name.value.trim()) throw wrongField('name', t('webhooks.nameMissing'));
      if (!url.value.trim()) throw wrongField('url', t('webhooks.urlMissing'));
      if (!fields.types.read().length) throw wrongField('types', t('webhooks.typesMissing'));
      return send({ name: name.value.trim(), url: url.value.trim(), types: fields.types.read() });
    },
  });
}

function tellSecret(name, secret) {
  return showSecret({ title: t('webhooks.secretTitle', { name }), text: t('webhooks.secretText'), secret });
}

async function addWebhook(page) {
  const { app } = page;
  const made = await webhookDialog({ title: t('webhooks.add'), action: t('webhooks.add'), send: (body) => api.post(path`/v1/apps/${app}/webhooks`, body) });
  if (!made) return;
  await tellSecret(made.webhook.name, made.secret);
  go(addressOf('apps', app, 'webhooks', made.webhook.id));
}

function webhooksTable(app, webhooks, add) {
  return table({
    caption: t('webhooks.all'),
    columns: [
      { label: t('frame.name'), cell: (row) => [h('a', { href: addressOf('apps', app, 'webhooks', row.id) }, bdi(row.name)), h('p.quiet', bdi(row.url))] },
      { label: t('frame.state'), cell: webhookChip },
      { label: t('webhooks.pending'), className: 'num', cell: (row) => count(row.state.pending) },
      { label: t('webhooks.deadLetters'), className: 'num', cell: (row) => count(row.state.dead_letters) },
      { label: t('webhooks.lastDelivered'), cell: (row) => lastDelivered(row.state) },
      { label: t('webhooks.lastFailure'), cell: (row) => lastFailure(row.state) },
    ],
    rows: webhooks,
    empty: emptyState({ title: t('webhooks.none'), text: t('webhooks.noneText'), action: add() }),
  });
}

async function openList(page) {
  const { app, signal } = page;
  page.setTitle(t('nav.webhooks'));
  const address = path`/v1/apps/${app}/webhooks`;
  const add = () => button({ label: t('webhooks.add'), kind: 'primary', iconName: 'plus', role: 'administer', onClick: () => addWebhook(page) });
  page.root.append(
    pageHead({ title: t('nav.webhooks'), lead: t('webhooks.lead'), actions: add() }),
    ...[roleNote('administer')].filter(Boolean),
    card({ title: t('webhooks.all') }, loaded(signal, () => api.get(address, null, { signal }), ({ webhooks }) => webhooksTable(app, webhooks, add))),
    disclosure(t('webhooks.how'), h('ul.plain-list', ['answer', 'verify', 'again', 'read'].map((key) => h('li', t(`webhooks.how.${key}`))))),
    curlBlock(curlOf('GET', address)));
}

/** What the test was answered, as it was answered. */
function testWords(answer) {
  const places = { status: answer.status ?? '–', ms: number(answer.milliseconds) };
  return answer.delivered ? note('good', h('p', t('webhooks.testGood', places)))
    : note('bad', h('p', h('strong', t('webhooks.testBad')), ' ', failureWords(answer)), h('p.quiet', t('webhooks.testTook', places)));
}

function rotateDialog(address, webhook) {
  const overlap = select(OVERLAPS.map(([seconds, key]) => [seconds, t(`webhooks.overlap.${key}`)]), '86400', { name: 'overlap' });
  const fields = { overlap_seconds: field({ label: t('webhooks.overlap'), hint: t('webhooks.overlapHint'), input: overlap, wide: true }) };
  return formDialog({
    title: t('webhooks.rotateTitle', { name: webhook.name }), action: t('webhooks.rotate'), fields,
    content: [h('p', t('webhooks.rotateText')), Object.values(fields)],
    send: () => api.post(`${address}/secret`, { overlap_seconds: Number(overlap.value) }),
  });
}

/** What may be done with one webhook. `result` shows what a test was answered. */
function actionsFor(page, webhook, { address, result, changed }) {
  const { app } = page;
  const set = (body) => api.patch(address, body);
  const [turn, title, text] = webhook.enabled ? ['webhooks.disable', 'webhooks.disableTitle', 'webhooks.disableText'] : ['webhooks.enable', 'webhooks.enableTitle', 'webhooks.enableText'];
  return [
    button({
      label: t('webhooks.test'), role: 'administer',
      onClick: async () => {
        result.replaceChildren();
        result.replaceChildren(testWords(await api.post(`${address}/test`)));
        changed();
      },
    }),
    button({
      label: t('webhooks.change'), role: 'administer',
      onClick: async () => { if (await webhookDialog({ title: t('webhooks.changeTitle', { name: webhook.name }), action: t('frame.save'), webhook, send: set })) page.reload(); },
    }),
    button({
      label: t(turn), role: 'administer',
      onClick: async () => {
        const done = await confirmAction({ title: t(title, { name: webhook.name }), text: t(text), action: t(turn), danger: webhook.enabled, act: () => set({ enabled: !webhook.enabled }) });
        if (done) page.reload();
      },
    }),
    button({
      label: t('webhooks.rotate'), role: 'administer',
      onClick: async () => {
        const made = await rotateDialog(address, webhook);
        if (!made) return;
        await tellSecret(webhook.name, made.secret);
        page.reload();
      },
    }),
    button({
      label: t('frame.remove'), kind: 'danger', role: 'administer',
      onClick: async () => {
        const done = await confirmAction({ title: t('webhooks.removeTitle', { name: webhook.name }), text: t('webhooks.removeText'), action: t('frame.remove'), typed: webhook.name, act: () => api.delete(address) });
        if (done) go(addressOf('apps', app, 'webhooks'));
      },
    }),
  ];
}

function stateTiles({ state }) {
  if (isUnknown(state)) return note('wait', h('p', t('webhooks.unknownText')));
  const tile = (key, value, remark) => h('div.tile', h('span.tile-label', t(key)), h('span.tile-value', value), h('span.tile-note', remark ?? ''));
  const ago = (at) => h('span.tile-words', at ? timeElement(at) : '–');
  return h('div.tiles',
    tile('webhooks.pending', number(state.pending), t('webhooks.pendingNote')),
    tile('webhooks.deadLetters', number(state.dead_letters), t('webhooks.deadLettersNote')),
    tile('webhooks.lastDelivered', ago(state.last_delivered_at)),
    tile('webhooks.lastFailure', ago(state.last_failure?.at), state.last_failure ? failureWords(state.last_failure) : ''));
}

function deadLettersCard(page, address, changed) {
  const { signal } = page;
  const all = h('div', { hidden: true }, button({ label: t('webhooks.retryAll'), role: 'administer', onClick: () => retry({}) }));
  const letters = pagedList(signal, async (cursor) => {
    const answer = await api.get(`${address}/dead-letters`, { cursor }, { signal });
    return { items: answer.dead_letters, next: answer.next };
  }, (rows) => {
    all.hidden = !rows.length;
    return table({
      caption: t('webhooks.deadLetters'),
      columns: [
        { label: t('webhooks.event'), cell: (row) => [t(`webhookType.${row.type}`), ' ', idChip(row.id)] },
        { label: t('frame.time'), cell: (row) => dateTime(row.at) },
        { label: t('webhooks.why'), cell: (row) => [failureWords(row), h('p.quiet', tn('webhooks.attempts', row.attempts))] },
        { label: t('webhooks.data'), cell: (row) => disclosure(t('webhooks.showData'), codeBlock(JSON.stringify(row.data, null, 2), t('webhooks.data'))) },
        {
          label: t('frame.what'), cell: (row) => h('div.actions',
            button({ label: t('webhooks.retry'), kind: 'small', role: 'administer', label2: t('webhooks.retryOne', { id: row.id }), onClick: () => retry({ ids: [row.id] }) }),
            button({ label: t('frame.remove'), kind: 'small danger', role: 'administer', label2: t('webhooks.forgetOne', { id: row.id }), onClick: () => forget(row) })),
        },
      ],
      rows,
      empty: emptyState({ title: t('webhooks.noDeadLetters'), text: t('webhooks.noDeadLettersText') }),
    });
  });
  const anew = () => {
    letters.reload();
    changed();
  };
  const retry = async (body) => {
    const { retried } = await api.post(`${address}/dead-letters/retry`, body);
    toast(tn('webhooks.retried', retried));
    anew();
  };
  const forget = async (row) => {
    const act = () => api.delete(`${address}/dead-letters/${encodeURIComponent(row.id)}`);
    if (await confirmAction({ title: t('webhooks.forgetTitle'), text: t('webhooks.forgetText'), action: t('frame.remove'), act })) anew();
  };
  return card({ title: t('webhooks.deadLetters'), lead: t('webhooks.deadLettersLead'), actions: all }, letters);
}

async function openOne(page, id) {
  const { app, signal } = page;
  const address = path`/v1/apps/${app}/webhooks/${id}`;
  let webhook = await api.get(address, null, { signal });
  page.setTitle(t('title.webhook', { name: webhook.name }));
  const state = h('span.chips', { 'aria-live': 'polite' });
  const tiles = h('div');
  const result = h('div', { 'aria-live': 'polite' });
  const show = () => {
    state.replaceChildren(webhookChip(webhook));
    tiles.replaceChildren(stateTiles(webhook));
  };
  const load = async () => {
    try {
      webhook = await api.get(address, null, { signal });
      show();
    } catch { /* The numbers stay as they were; the next try comes soon. */ }
  };
  page.root.append(
    pageHead({
      title: bdi(webhook.name), crumbs: [[t('nav.webhooks'), addressOf('apps', app, 'webhooks')]], lead: state,
      actions: actionsFor(page, webhook, { address, result, changed: load }),
    }),
    ...[roleNote('administer')].filter(Boolean),
    result, tiles,
    card({ title: t('message.about') }, facts([
      [t('webhooks.url'), h('code', bdi(webhook.url)), 'fact-wide'],
      [t('webhooks.types'), list(webhook.types.map((type) => t(`webhookType.${type}`))), 'fact-wide'],
      [t('frame.id'), idChip(webhook.id)],
      [t('push.created'), date(webhook.created_at)],
      [t('webhooks.previousSecret'), webhook.previous_secret_ends_at ? t('webhooks.until', { time: dateTime(webhook.previous_secret_ends_at) }) : null],
    ])),
    deadLettersCard(page, address, load),
    curlBlock(curlOf('GET', address)));
  show();
  const timer = setInterval(() => { if (!document.hidden && !tiles.contains(document.activeElement)) load(); }, POLL);
  page.onLeave(() => clearInterval(timer));
}

export default function open(page) {
  return page.params.webhook ? openOne(page, page.params.webhook) : openList(page);
}
