// One person: what they are called, which phones they have, what keeps those silent, and what may be done for them.

import { h, bdi } from './dom.js';
import { api, path, curlOf } from './api.js';
import { t, tn, tx, number, clock, dateTime, list, timeElement } from './text.js';
import { addressOf } from './address.js';
import { timeOf, pageHead, card, facts, chip, button, note, table, emptyState, loaded, pagedList, confirmAction, roleNote, strangerText, field, textInput, showRefusal, toast, curlBlock, disclosure, idChip, personLink, formDialog } from './widgets.js';
import { whySilent } from './legs-search.js';
import { conversationLink } from './links.js';
import { payloadPreview } from './payload.js';
import { deviceLink, rememberDevices, systemWords } from './devices.js';


/** After these a device may be told otherwise. */
export const DEVICE_TYPES = ['device_connected', 'device_disconnected', 'device_lease', 'device_signed_in', 'device_signed_out', 'push_answered'];

const LEASES = { foreground: 'good', background: 'wait', probing: 'wait', grace: 'wait', returning: 'wait', gone: 'quiet' };
const AUTHORIZATIONS = { authorized: 'good', denied: 'bad' };
const ALLOWED = [['alert', 'alert'], ['sound', 'sound'], ['badge', 'badge'], ['lock_screen', 'lockScreen'], ['notification_center', 'list']];

/** What the server believes of the app. */
export function leaseChip(device) {
  return chip(LEASES[device.lease] ?? 'quiet', t(`lease.${device.lease}`));
}

export function authorizationChip(status) {
  return chip(AUTHORIZATIONS[status.authorization] ?? 'wait', t(`authorization.${status.authorization}`));
}

export function pushChip(device) {
  const kinds = { registered: 'good', none: 'quiet', quarantined: 'bad', dead: 'bad' };
  return chip(kinds[device.push] ?? 'quiet', t(`token.${device.push}`), device.push_reason);
}

/** What on the device itself keeps it silent; null where nothing does. */
export function silence(device) {
  const { status } = device;
  if (status?.off_since) return t('device.offSince', { time: dateTime(status.off_since) });
  if (device.push === 'none') return t('device.noToken');
  if (device.push === 'dead') return t('device.tokenDead');
  if (device.push === 'quarantined') return t('device.tokenQuarantined', { reason: device.push_reason ?? '–' });
  if (status && !status.alert) return t('device.noAlerts');
  if (status && !status.sound) return t('device.noSound');
  return null;
}

/** What the person allows there, as the device has reported. */
function notificationsCell({ status }) {
  if (!status) return h('span.quiet', t('device.noStatus'));
  const allowed = ALLOWED.filter(([name]) => status[name]).map(([, key]) => t(`status.${key}`));
  return [authorizationChip(status), allowed.length ? h('p.quiet', list(allowed)) : null];
}

function leaseCell(row) {
  return [
    leaseChip(row), row.lease_until ? h('p.quiet', t('device.until', { time: clock(row.lease_until) })) : null,
    h('p.quiet', row.last_seen_at === null ? t('device.connectedNow') : tx('device.seenAt', { time: timeElement(row.last_seen_at) })),
  ];
}

function tokenCell(row) {
  return [pushChip(row), row.push_environment ? h('p.quiet', t(`environment.${row.push_environment}`)) : null, row.push_token ? h('p.quiet', h('code', row.push_token)) : null];
}

/** What the last push told; the next one tells what is unread by then. */
function badgeCell(row, unread) {
  if (['foreground', 'background'].includes(row.lease) && row.badge === null) return h('span.quiet', t('device.badgeByApp'));
  const next = row.badge === unread ? null : h('p.quiet', t('device.badgeNextIs', { n: number(unread) }));
  return [row.badge === null ? null : number(row.badge), next];
}

function devicesTable(app, user, { devices, unread }) {
  rememberDevices(app, user, devices);
  return table({
    caption: t('person.devices'),
    columns: [
      { label: t('device.id'), cell: (row) => [deviceLink(app, user, row.id), h('p.quiet', systemWords(row))] },
      { label: t('device.leaseAndSeen'), cell: leaseCell },
      { label: t('device.token'), cell: tokenCell },
      { label: t('device.badge'), cell: (row) => badgeCell(row, unread) },
      { label: t('device.notifications'), cell: notificationsCell },
      { label: t('device.silent'), cell: (row) => silence(row) ?? h('span.quiet', t('device.nothingKnown')) },
    ],
    rows: devices,
    empty: emptyState({ title: t('person.noDevices'), text: t('person.noDevicesText') }),
  });
}

/** A kind that stands by itself: "with" alone says nothing. */
function kindWord(kind) {
  return t(kind === 'PR' ? 'kind.PR.alone' : `kind.${kind}`);
}

function minutes(value) {
  return `${String(Math.floor(value / 60)).padStart(2, '0')}:${String(value % 60).padStart(2, '0')}`;
}

/** What a person has set, in words; the loud defaults are not told. */
function settingsWords(app, settings) {
  const quiet = settings.quiet_hours;
  const muted = settings.conversations.filter((each) => each.level && each.level !== 'all');
  return h('div.stack', facts([
    [t('settings.quietHours'), quiet ? tx(`settings.quietHours.${quiet.manner}`, {
      from: minutes(quiet.start), to: minutes(quiet.end), zone: quiet.time_zone,
      days: quiet.weekdays?.length ? list(quiet.weekdays.map((day) => t(`weekday.${day}`))) : t('weekday.every'),
    }) : t('frame.none')],
    [t('settings.kinds'), Object.entries(settings.levels).filter(([, level]) => level !== 'all').length
      ? h('span.chips', Object.entries(settings.levels).filter(([, level]) => level !== 'all').map(([kind, level]) => chip('quiet', `${kindWord(kind)}: ${t(`level.${level}`)}`))) : t('settings.allRing')],
    [t('settings.hidesContent'), settings.hides_content ? t('frame.yes') : t('frame.no')],
    [t('settings.language'), settings.language ?? t('settings.appLanguage')],
    [t('settings.addedBy'), t(`addedBy.${settings.may_be_added_by}`)],
    [t('settings.blocked'), settings.blocked.length ? h('span.chips', settings.blocked.map((other) => personLink(app, other))) : t('frame.none')],
  ]), muted.length ? table({
    caption: t('settings.muted'), captionHidden: false,
    columns: [
      { label: t('message.conversation'), cell: (row) => conversationLink(app, row.conversation) },
      { label: t('settings.level'), cell: (row) => chip('quiet', t(`level.${row.level}`)) },
      { label: t('settings.until'), cell: (row) => (row.level_until ? dateTime(row.level_until) : t('settings.forGood')) },
    ],
    rows: muted,
  }) : h('p.quiet', t('settings.noneMuted')));
}

/** A form for one line of words, such as tags. */
function wordsForm({ page, label, hint, load, save }) {
  return loaded(page.signal, load, (words) => {
    const input = textInput({ value: words.join(', ') });
    const entry = field({ label, hint, input });
    const refusal = h('div');
    return h('form.stack', {
      novalidate: true,
      on: {
        submit: async (event) => {
          event.preventDefault();
          try {
            await save(input.value.split(/[,，]/).map((word) => word.trim()).filter(Boolean));
            refusal.replaceChildren();
            toast(t('frame.saved'));
          } catch (problem) { showRefusal(refusal, problem, { aliases: entry, tags: entry }); }
        },
      },
    }, h('div.form-row', entry, button({ label: t('frame.save'), type: 'submit', role: 'administer' })), refusal);
  }, 1);
}

async function profileDialog(page, user, person) {
  const name = textInput({ value: person.name ?? '' });
  const portrait = textInput({ value: person.portrait ?? '' });
  const done = await formDialog({
    title: t('person.changeProfile'), action: t('frame.save'),
    fields: { name: field({ label: t('frame.name'), input: name, optional: true, wide: true }), portrait: field({ label: t('person.portrait'), input: portrait, optional: true, wide: true }) },
    send: () => api.put(path`/v1/apps/${page.app}/users/${user}/profile`, { name: name.value.trim() || null, portrait: portrait.value.trim() || null }),
  });
  if (!done) return;
  toast(t('frame.saved'));
  page.reload();
}

async function banDialog(page, user) {
  const reason = textInput({ name: 'reason' });
  const until = h('input', { type: 'datetime-local', name: 'until' });
  const fields = {
    reason: field({ label: t('person.banReason'), hint: t('person.banReasonHint'), input: reason, optional: true, wide: true }),
    until: field({ label: t('person.banUntil'), hint: t('person.banUntilHint'), input: until, optional: true }),
  };
  const done = await formDialog({
    title: t('person.banTitle'), action: t('person.ban'), kind: 'danger', fields, content: [h('p', t('person.banText')), Object.values(fields)],
    send: () => api.put(path`/v1/apps/${page.app}/users/${user}/ban`, { reason: reason.value.trim() || null, until: timeOf(until) || null }),
  });
  if (!done) return;
  toast(t('frame.saved'));
  page.reload();
}

function conversationMarks(row) {
  const marks = [
    row.is_muted && row.level_until ? chip('quiet', t('person.mutedUntil', { time: dateTime(row.level_until) }))
      : row.is_muted || (row.level ?? 'all') !== 'all' ? chip('quiet', t(`level.${row.level ?? 'blocked'}`)) : null,
    row.pinned_at ? chip('info', t('person.pinned')) : null,
    row.is_archived ? chip('quiet', t('person.archived')) : null,
    row.is_hidden ? chip('quiet', t('person.hidden')) : null,
    row.is_dissolved ? chip('bad', t('conversation.dissolved')) : null,
  ].filter(Boolean);
  return marks.length ? h('span.chips', marks) : '–';
}

/** With whom somebody talks, the newest first; what was written stands on the conversation's own page. */
function conversationsCard(page, user) {
  const { app, signal } = page;
  const address = path`/v1/apps/${app}/users/${user}/conversations`;
  return card({ title: t('person.conversations'), lead: t('person.conversationsLead') }, pagedList(signal, async (cursor) => {
    const answer = await api.get(address, { cursor, limit: 20 }, { signal });
    return { items: answer.conversations, next: answer.next };
  }, (rows) => table({
    caption: t('person.conversations'),
    columns: [
      { label: t('message.conversation'), cell: (row) => [conversationLink(app, row.conversation), row.name ? h('p.quiet', bdi(row.name)) : ''] },
      { label: t('people.unread'), className: 'num', cell: (row) => [number(row.unread), row.mentions ? h('p.quiet', tn('person.mentionsIn', row.mentions)) : ''] },
      { label: t('frame.state'), cell: conversationMarks },
      { label: t('person.lastMessage'), cell: (row) => (row.last_message ? [timeElement(row.last_message.sent_at), ' ', idChip(row.last_message.message_id, { href: addressOf('apps', app, 'messages', row.last_message.message_id) })] : '–') },
      { label: t('message.sender'), cell: (row) => (row.last_message ? personLink(app, row.last_message.sender) : '–') },
    ],
    rows,
    empty: emptyState({ title: t('person.noConversations'), text: t('person.noConversationsText') }),
  })), curlBlock(curlOf('GET', address)));
}

function actionsCard(page, user, person) {
  const { app } = page;
  const administer = (label, options) => button({
    label, role: 'administer', kind: options.danger === false ? '' : 'danger',
    onClick: async () => {
      if (await confirmAction({ title: options.title, text: options.text, action: label, act: options.act, danger: options.danger !== false })) {
        toast(t('frame.saved'));
        page.reload();
      }
    },
  });
  return card({ title: t('person.actions') },
    h('div.actions',
      button({ label: t('person.write'), iconName: 'compose', role: 'send', href: addressOf('apps', app, 'pushes', 'new', { what: 'message', to: user }) }),
      button({ label: t('person.changeProfile'), role: 'administer', onClick: () => profileDialog(page, user, person) }),
      administer(t('person.signOutAll'), { title: t('person.signOutAllTitle'), text: t('person.signOutAllText'), act: () => api.delete(path`/v1/apps/${app}/users/${user}/devices`) }),
      administer(t('person.revoke'), { title: t('person.revokeTitle'), text: t('person.revokeText'), act: () => api.post(path`/v1/apps/${app}/users/${user}/revoke-tokens`, {}) }),
      person.banned
        ? administer(t('person.unban'), { danger: false, title: t('person.unbanTitle'), text: t('person.unbanText'), act: () => api.delete(path`/v1/apps/${app}/users/${user}/ban`) })
        : button({ label: t('person.ban'), role: 'administer', kind: 'danger', onClick: () => banDialog(page, user) })),
    roleNote('administer'),
    disclosure(t('silent.title'), h('p.quiet', t('silent.lead')), silentCard(page, user)),
    disclosure(t('person.audiences'), h('p.quiet', t('person.audiencesLead')),
      wordsForm({ page, label: t('person.aliases'), hint: t('person.wordsHint'), load: async () => (await api.get(path`/v1/apps/${app}/users/${user}/aliases`)).aliases, save: (aliases) => api.put(path`/v1/apps/${app}/users/${user}/aliases`, { aliases }) }),
      wordsForm({ page, label: t('person.tags'), hint: t('person.tagsHint'), load: async () => (await api.get(path`/v1/apps/${app}/users/${user}/tags`)).tags, save: (tags) => api.put(path`/v1/apps/${app}/users/${user}/tags`, { tags }) })));
}

const SILENT = { sent: 'good', budget_spent: 'wait', budget_unknown: 'wait', no_token: 'quiet', token_dead: 'bad', token_quarantined: 'bad', not_sent: 'bad' };

/**
 * Wakes the person's app in the background; what became of it for each device. `whom` is the person, or gives them, null for nobody yet;
 * `kept` holds the data that was entered.
 */
export function silentCard(page, whom, kept = { data: '' }, changed = () => {}) {
  const { app } = page;
  const data = h('textarea', {
    class: 'mono', rows: 2, spellcheck: 'false', placeholder: '{"sync": true}', name: 'silent-data',
    on: { input: () => { kept.data = data.value; payload.ask(); changed(); } },
  });
  data.value = kept.data;
  const readData = () => (data.value.trim() ? { data: JSON.parse(data.value) } : {});
  const payload = payloadPreview(page, () => ({ silent: readData() }));
  if (kept.data) payload.ask();
  const entry = field({ label: t('silent.data'), hint: t('silent.dataHint'), input: data, optional: true, wide: true });
  const result = h('div.stack', { 'aria-live': 'polite' });
  const submit = button({ label: t('silent.send'), kind: 'primary', type: 'submit', role: 'send' });
  return h('form.stack', {
    novalidate: true,
    on: {
      submit: async (event) => {
        event.preventDefault();
        let body;
        try { body = readData(); } catch { return entry.fail(t('compose.jsonWrong')); }
        entry.fail('');
        const user = typeof whom === 'function' ? whom() : whom;
        if (!user) return undefined;
        try {
          const answer = await api.post(path`/v1/apps/${app}/users/${user}/silent-push`, body);
          result.replaceChildren(table({
            caption: t('silent.result'),
            columns: [
              { label: t('device.id'), cell: (row) => deviceLink(app, user, row.device) },
              { label: t('frame.state'), cell: (row) => chip(SILENT[row.state] ?? 'quiet', t(`silent.${row.state}`)) },
              { label: t('silent.next'), cell: (row) => (row.next_at ? dateTime(row.next_at) : row.reason ? bdi(row.reason) : '–') },
            ],
            rows: answer.devices, empty: emptyState({ title: t('person.noDevices'), text: t('person.noDevicesText') }),
          }), ...(answer.notes ?? []).map((words) => h('p.quiet', words)));
        } catch (problem) { showRefusal(result, problem, { data: entry }); }
        return undefined;
      },
    },
  }, entry, payload, h('div.actions', submit), result);
}

export default async function open(page) {
  const { app, signal, params: { user } } = page;
  page.setTitle(t('title.person', { user }));
  const address = path`/v1/apps/${app}/users/${user}`;
  const person = await api.get(address, null, { signal });
  const devicesAddress = path`/v1/apps/${app}/users/${user}/devices`;
  const loadDevices = async () => {
    const devices = [];
    let cursor = null;
    do {
      const answer = await api.get(devicesAddress, { cursor }, { signal });
      devices.push(...answer.devices);
      cursor = answer.next;
    } while (cursor);
    const counts = devices.length ? await api.get(path`/v1/apps/${app}/users/${user}/unread`, null, { signal }) : person;
    return { devices, unread: counts.unread };
  };
  const devices = loaded(signal, loadDevices, (found) => devicesTable(app, user, found));
  const loudness = (settings) => settingsWords(app, settings);
  page.root.append(
    pageHead({
      title: person.name ? [bdi(person.name), ' ', h('code.quiet', bdi(user))] : bdi(user), crumbs: [[t('nav.people'), addressOf('apps', app, 'people')]],
      lead: person.banned ? chip('bad', t('people.banned')) : null,
    }),
    ...[person.devices.count === 0 && person.head === 0 && !person.name ? note('info', h('p', t('person.unknown'))) : null].filter(Boolean),
    h('div.tiles',
      ...[['people.devices', person.devices.count], ['person.here', person.devices.here], ['people.unread', person.unread], ['person.unreadMuted', person.unread_with_muted], ['person.mentions', person.mentions]]
        .map(([key, value]) => h('div.tile', h('span.tile-label', t(key)), h('span.tile-value', number(value))))),
    card({ title: t('person.why') }, whySilent(page, user)),
    card({ title: t('person.devices'), lead: t('person.devicesLead') }, devices, curlBlock(curlOf('GET', devicesAddress))),
    conversationsCard(page, user),
    h('div.grid',
      card({ title: t('person.settings'), lead: t('person.settingsLead') }, loaded(signal, () => api.get(path`/v1/apps/${app}/users/${user}/settings`, null, { signal }), loudness)),
      h('div.stack',
        card({ title: t('person.about') }, facts([
          [t('person.banReason'), person.ban ? (person.ban.reason ? strangerText(person.ban.reason) : t('frame.none')) : null],
          [t('person.banUntil'), person.ban ? (person.ban.until ? dateTime(person.ban.until) : t('person.untilLifted')) : null],
          [t('frame.id'), idChip(user, { whole: true })],
          [t('frame.name'), person.name ? strangerText(person.name) : t('frame.none')],
          [t('person.portrait'), person.portrait ? strangerText(person.portrait) : t('frame.none')],
          [t('person.head'), number(person.head)],
          [t('person.tokensFrom'), person.tokens_not_before ? dateTime(person.tokens_not_before) : null],
        ])),
        actionsCard(page, user, person))));
  page.live(DEVICE_TYPES, (events) => {
    if (events.some((event) => event.data.user === user) && !devices.contains(document.activeElement)) {
      loadDevices().then((found) => devices.replaceChildren(devicesTable(app, user, found)), () => {});
    }
  });
}

