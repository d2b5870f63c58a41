// Everything that is set of one app: how it behaves, its keys and secrets, limits and words.

import { h, bdi } from './dom.js';
import { api, path, curlOf, wrongField } from './api.js';
import { t, hasText, tx, number, bytes, date, dateTime, timeElement } from './text.js';
import { addressOf, replaceAddress } from './address.js';
import { pageHead, card, table, button, chip, field, textInput, select, checkbox, note, tabs, formDialog, showRefusal, showSecret, roleNote, confirmAction, curlBlock, idChip, toast, emptyState, loaded } from './widgets.js';
import { may } from './session.js';

const SCOPES = ['tokens', 'messages', 'conversations', 'history', 'settings', 'trace', 'accounts', 'media'];
const RATES = ['messages', 'bytes', 'signals', 'requests', 'deliveries', 'connects'];
const WORDS = ['neutral', 'hidden', 'recalled', 'several', 'other'];

function listOf(text) {
  return text.split(/[,，\s]+/).map((word) => word.trim()).filter(Boolean);
}

function wholeNumber(text) {
  return text.trim() === '' ? null : Number(text);
}

/** What an administrator changes and saves; others see it, and cannot. */
class SettingsForm {
  constructor(page, info) {
    this.page = page;
    this.info = info;
    this.fields = {};
    this.refusal = h('div', { 'aria-live': 'assertive' });
  }

  /** A form whose `read` changes a copy of all settings; the server takes all of them at once. */
  make(content, read) {
    const submit = button({ label: t('frame.save'), kind: 'primary', type: 'submit', role: 'administer' });
    const form = h('form.stack', {
      novalidate: true,
      on: {
        submit: async (event) => {
          event.preventDefault();
          if (!may('administer')) return;
          submit.setAttribute('aria-busy', 'true');
          try {
            const settings = structuredClone(this.info.settings);
            read(settings);
            const answer = await api.put(path`/v1/apps/${this.info.id}/settings`, settings, { headers: { 'If-Match': `"${this.info.revision}"` } });
            const changed = answer.app ?? answer;
            Object.assign(this.info, changed);
            this.refusal.replaceChildren();
            toast(t('frame.saved'));
            await this.page.reloadApps();
          } catch (problem) { showRefusal(this.refusal, problem, this.fields); } finally { submit.removeAttribute('aria-busy'); }
        },
      },
    }, content, this.refusal, h('div.actions', submit), roleNote('administer'));
    if (!may('administer')) for (const input of form.querySelectorAll('input, select, textarea')) input.disabled = true;
    return form;
  }

  field(name, options) {
    this.fields[name] = field(options);
    return this.fields[name];
  }
}

function generalForm(page, info) {
  const form = new SettingsForm(page, info);
  const { settings } = info;
  const name = textInput({ value: settings.name ?? '' });
  const members = h('input', { type: 'number', min: 1, max: 3_000, value: settings.members_max ?? '' });
  const devices = h('input', { type: 'number', min: 1, max: 100, value: settings.devices_max ?? '' });
  const tags = textInput({ value: (settings.tags ?? []).join(', ') });
  const accounts = textInput({ value: (settings.offered_accounts ?? []).join(', ') });
  const own = checkbox(t('app.ownProfiles'), settings.own_profiles);
  const approval = select([['none', t('app.approval.none')], ['required', t('app.approval.required')]], settings.media?.approval ?? 'none');
  const audiences = textInput({ value: (settings.tokens?.audiences ?? []).join(', ') });
  const required = checkbox(t('app.audienceRequired'), settings.tokens?.audience_required);
  const jwks = textInput({ value: settings.tokens?.jwks ?? '', inputmode: 'url' });
  return form.make([
    h('div.form',
      form.field('name', { label: t('apps.name'), hint: t('app.nameHint'), input: name }),
      form.field('members_max', { label: t('app.membersMax'), hint: t('app.serverDefault'), input: members }),
      form.field('devices_max', { label: t('app.devicesMax'), hint: t('app.serverDefault'), input: devices }),
      form.field('tags', { label: t('app.tags'), hint: t('app.tagsHint'), input: tags, wide: true }),
      form.field('offered_accounts', { label: t('app.offeredAccounts'), hint: t('person.wordsHint'), input: accounts }),
      form.field('approval', { label: t('app.approval'), input: approval })),
    own,
    h('fieldset', h('legend', t('app.tokens')), h('div.form',
      form.field('audiences', { label: t('app.audiences'), hint: t('app.audiencesHint'), input: audiences }),
      form.field('jwks', { label: t('app.jwks'), hint: t('app.jwksHint'), input: jwks })), required),
  ], (changed) => {
    changed.name = name.value.trim() || null;
    changed.members_max = wholeNumber(members.value);
    changed.devices_max = wholeNumber(devices.value);
    changed.tags = listOf(tags.value);
    changed.offered_accounts = listOf(accounts.value);
    changed.own_profiles = own.input.checked;
    changed.media = { ...changed.media, approval: approval.value };
    changed.tokens = { ...changed.tokens, audiences: listOf(audiences.value), audience_required: required.input.checked, jwks: jwks.value.trim() || null };
  });
}

function pushForm(page, info) {
  const form = new SettingsForm(page, info);
  const push = info.settings.push ?? {};
  const line = (name, hint) => form.field(name, { label: t(`app.push.${name}`), hint, input: textInput({ value: (push[name] ?? []).join(', ') }) });
  const topics = line('topics', t('apps.topicsHint'));
  const text = select(['extension', 'alert', 'id_only'].map((each) => [each, t(`app.push.text.${each}`)]), push.text ?? 'extension');
  const onlySender = checkbox(t('app.push.onlySender'), push.only_sender);
  const entitlements = ['time_sensitive', 'critical'].map((each) => [each, checkbox(t(`app.push.entitlement.${each}`), push.entitlements?.includes(each))]);
  const lists = ['client_options', 'client_sounds', 'client_categories', 'image_hosts'].map((each) => [each, line(each, t('person.wordsHint'))]);
  const options = h('textarea', { class: 'mono', rows: 4, spellcheck: 'false', placeholder: '{"sound": "bell.caf"}' });
  options.value = push.options ? JSON.stringify(push.options, null, 2) : '';
  const optionsField = form.field('options', { label: t('app.push.options'), hint: t('app.push.optionsHint'), input: options, wide: true });
  return form.make([
    h('div.form', topics, form.field('text', { label: t('app.push.text'), input: text }), lists.map(([, each]) => each), optionsField),
    h('fieldset', h('legend', t('app.push.entitlements')), entitlements.map(([, each]) => each)), onlySender,
  ], (changed) => {
    let parsed = null;
    if (options.value.trim()) {
      try { parsed = JSON.parse(options.value); } catch { throw wrongField('options', t('app.push.optionsWrong')); }
    }
    changed.push = {
      ...changed.push, topics: listOf(topics.input.value), text: text.value, only_sender: onlySender.input.checked, options: parsed,
      entitlements: entitlements.filter(([, each]) => each.input.checked).map(([name]) => name),
      ...Object.fromEntries(lists.map(([name, each]) => [name, listOf(each.input.value)])),
    };
  });
}

function limitsForm(page, info) {
  const form = new SettingsForm(page, info);
  const limits = info.settings.limits ?? {};
  const inputs = {};
  const cell = (whose, rate) => {
    const input = textInput({ value: limits[whose]?.[rate] ?? '', placeholder: t('limits.server'), 'aria-label': t('limits.label', { rate: t(`limits.${rate}`), whose: t(`limits.${whose}`) }), size: 12 });
    inputs[`${whose}.${rate}`] = input;
    return input;
  };
  return form.make([
    h('p.quiet', t('limits.lead')),
    table({
      caption: t('settings.tab.limits'),
      columns: [
        { label: t('limits.what'), cell: (rate) => t(`limits.${rate}`) },
        { label: t('limits.person'), cell: (rate) => cell('person', rate) },
        { label: t('limits.app'), cell: (rate) => cell('app', rate) },
      ],
      rows: RATES,
    }),
  ], (changed) => {
    const whole = {};
    for (const whose of ['person', 'app']) {
      const set = RATES.map((rate) => [rate, inputs[`${whose}.${rate}`].value.trim()]).filter(([, value]) => value);
      if (set.length) whole[whose] = Object.fromEntries(set);
    }
    changed.limits = Object.keys(whole).length ? whole : null;
  });
}

function wordsForm(page, info) {
  const form = new SettingsForm(page, info);
  const words = info.settings.words ?? {};
  const language = textInput({ value: words.language ?? 'en' });
  const box = h('div.stack');
  const sets = [];
  const addSet = (tag, values) => {
    const tagInput = textInput({ value: tag });
    const inputs = Object.fromEntries(WORDS.map((name) => [name, textInput({ value: values[name] ?? '' })]));
    const entries = WORDS.map((name) => [name, field({ label: t(`words.${name}`), hint: name === 'several' ? t('words.severalHint') : null, input: inputs[name] })]);
    const set = { tag: tagInput, inputs, entries, kinds: values.kinds };
    const element = h('fieldset.word-set', h('legend', tag || t('words.newLanguage')), h('div.form',
      field({ label: t('words.tag'), hint: t('words.tagHint'), input: tagInput }),
      entries.map(([, entry]) => entry)),
    h('div.actions', button({ label: t('words.removeLanguage'), kind: 'small danger', role: 'administer', onClick: () => { sets.splice(sets.indexOf(set), 1); element.remove(); } })));
    sets.push(set);
    box.append(element);
  };
  for (const [tag, values] of Object.entries(words.languages ?? {})) addSet(tag, values);
  return form.make([
    h('p.quiet', t('words.lead')),
    h('div.form', form.field('language', { label: t('words.language'), hint: t('words.languageHint'), input: language })),
    box,
    h('div.actions', button({ label: t('words.addLanguage'), iconName: 'plus', role: 'administer', onClick: () => addSet('', {}) })),
  ], (changed) => {
    // A refusal names the language as it is written now.
    for (const { tag, entries } of sets) for (const [name, entry] of entries) form.fields[`words.languages.${tag.value.trim()}.${name}`] = entry;
    const languages = Object.fromEntries(sets.filter((set) => set.tag.value.trim()).map((set) => [set.tag.value.trim(), {
      ...Object.fromEntries(WORDS.map((name) => [name, set.inputs[name].value || null])), ...(set.kinds ? { kinds: set.kinds } : {}),
    }]));
    changed.words = { ...changed.words, language: language.value.trim() || null, languages };
  });
}

async function addKey(page, info) {
  const name = textInput({ required: true });
  const scopes = SCOPES.map((scope) => [scope, checkbox([h('code', scope), ' ', h('span.quiet', t(`scope.${scope}`))])]);
  const fields = { name: field({ label: t('frame.name'), hint: t('keys.nameHint'), input: name, wide: true }) };
  const made = await formDialog({
    title: t('keys.add'), action: t('keys.add'), fields, content: [fields.name, h('fieldset', h('legend', t('keys.scopes')), scopes.map(([, each]) => each))],
    send: () => api.post(path`/v1/apps/${info.id}/api-keys`, { name: name.value.trim(), scopes: scopes.filter(([, each]) => each.input.checked).map(([scope]) => scope) }),
  });
  if (!made) return;
  await showSecret({ title: t('keys.shown', { name: made.name }), text: t('keys.shownText'), secret: made.key });
  page.reload();
}

async function addClientKey(page, info) {
  const name = textInput({ required: true });
  const fields = { name: field({ label: t('frame.name'), hint: t('keys.nameHint'), input: name, wide: true }) };
  const made = await formDialog({
    title: t('clientKeys.add'), action: t('clientKeys.add'), fields, content: [h('p', t('clientKeys.addText')), fields.name],
    send: () => api.post(path`/v1/apps/${info.id}/client-keys`, { name: name.value.trim() }),
  });
  if (made) page.reload();
}

/** Asks, does it, shows what was told, and loads the page anew. */
async function tell(page, question, act, read, title, text) {
  const done = await confirmAction({ ...question, act });
  if (!done) return;
  const secret = read?.(done.value);
  if (secret) await showSecret({ title, text, secret });
  page.reload();
}

function keysTab(page, info) {
  const base = path`/v1/apps/${info.id}`;
  const small = (label, question, act, read, title, text, kind = 'small') => button({
    label, kind, role: 'administer', label2: question.title, onClick: () => tell(page, { action: label, danger: kind.includes('danger'), ...question }, act, read, title, text),
  });
  return h('div.stack',
    roleNote('administer'),
    card({ title: t('keys.title'), lead: t('keys.lead'), actions: button({ label: t('keys.add'), kind: 'primary', iconName: 'plus', role: 'administer', onClick: () => addKey(page, info) }) }, table({
      caption: t('keys.title'),
      columns: [
        { label: t('frame.name'), cell: (row) => bdi(row.name) },
        { label: t('keys.scopes'), cell: (row) => h('span.chips', row.scopes.map((scope) => chip('quiet', hasText(`scope.${scope}`) ? t(`scope.${scope}`) : scope, scope))) },
        { label: t('keys.lastUsed'), cell: (row) => h('span.one-line', row.last_used_at ? timeElement(row.last_used_at) : t('frame.never')) },
        { label: t('push.created'), cell: (row) => [h('span.one-line', date(row.created_at)), row.previous_ends_at && row.previous_ends_at > Date.now() ? h('p.quiet', t('keys.previous', { time: dateTime(row.previous_ends_at) })) : ''] },
        { label: t('frame.what'), cell: (row) => h('div.actions',
          small(t('keys.rotate'), { title: t('keys.rotateTitle', { name: row.name }), text: t('keys.rotateText') }, () => api.post(`${base}/api-keys/${encodeURIComponent(row.name)}/rotate`, {}), (made) => made.key, t('keys.shown', { name: row.name }), t('keys.shownText')),
          small(t('frame.remove'), { title: t('keys.removeTitle', { name: row.name }), text: t('keys.removeText') }, () => api.delete(`${base}/api-keys/${encodeURIComponent(row.name)}`), null, '', '', 'small danger')) },
      ],
      rows: info.api_keys,
      empty: emptyState({ title: t('keys.none'), text: t('keys.noneText') }),
    })),
    card({
      title: t('secrets.title'), lead: t('secrets.lead'),
      actions: button({
        label: t('secrets.add'), iconName: 'plus', role: 'administer',
        onClick: () => tell(page, { title: t('secrets.addTitle'), text: t('secrets.addText'), action: t('secrets.add'), danger: false }, () => api.post(`${base}/token-secrets`, {}), (made) => made.secret, t('secrets.shown'), t('secrets.shownText')),
      }),
    }, table({
      caption: t('secrets.title'),
      columns: [
        { label: t('frame.id'), cell: (row) => idChip(row.id) },
        { label: t('frame.state'), cell: (row) => (row === info.secrets[0] ? chip('good', t('secrets.signs')) : chip('quiet', row.ends_at ? t('secrets.until', { time: dateTime(row.ends_at) }) : t('secrets.good'))) },
        { label: t('push.created'), cell: (row) => dateTime(row.created_at) },
        { label: t('frame.what'), cell: (row) => (row === info.secrets[0] ? h('span.quiet', '–') : small(t('secrets.end'), { title: t('secrets.endTitle', { id: row.id }), text: t('secrets.endText') }, () => api.delete(`${base}/token-secrets/${encodeURIComponent(row.id)}`), null, '', '', 'small danger')) },
      ],
      rows: info.secrets,
      empty: emptyState({ title: t('secrets.none') }),
    })),
    card({ title: t('clientKeys.title'), lead: t('clientKeys.lead'), actions: button({ label: t('clientKeys.add'), iconName: 'plus', role: 'administer', onClick: () => addClientKey(page, info) }) }, table({
      caption: t('clientKeys.title'),
      columns: [
        { label: t('frame.name'), cell: (row) => bdi(row.name) },
        { label: t('clientKeys.key'), cell: (row) => idChip(row.key) },
        { label: t('frame.state'), cell: (row) => (row.revoked_at ? chip('quiet', t('clientKeys.revoked', { time: date(row.revoked_at) })) : chip('good', t('clientKeys.good'))) },
        { label: t('push.created'), cell: (row) => date(row.created_at) },
        { label: t('frame.what'), cell: (row) => (row.revoked_at ? h('span.quiet', '–') : small(t('clientKeys.revoke'), { title: t('clientKeys.revokeTitle', { name: row.name }), text: t('clientKeys.revokeText') }, () => api.delete(`${base}/client-keys/${encodeURIComponent(row.key)}`), null, '', '', 'small danger')) },
      ],
      rows: info.client_keys,
      empty: emptyState({ title: t('clientKeys.none'), text: t('clientKeys.noneText') }),
    })));
}

function storageCard({ app, signal }) {
  const address = path`/v1/apps/${app}/storage`;
  const list = (kinds) => table({
    caption: t('settings.tab.storage'),
    columns: [
      { label: t('storage.kind'), cell: ([kind]) => t(`storage.${kind}`) },
      { label: t('storage.number'), className: 'num', cell: ([, kept]) => number(kept.number) },
      { label: t('storage.bytes'), className: 'num', cell: ([, kept]) => (kept.bytes === null ? '–' : bytes(kept.bytes)) },
    ],
    // To set up the app leaves kept answers already.
    rows: Object.entries(kinds).some(([kind, kept]) => kept.number && kind !== 'kept_answers') ? Object.entries(kinds) : [],
    empty: emptyState({ title: t('storage.none'), text: t('storage.noneText') }),
  });
  return card({ title: t('settings.tab.storage'), lead: t('storage.lead') }, loaded(signal, () => api.get(address, null, { signal }), list, 9), curlBlock(curlOf('GET', address)));
}

function suspendButton(page, info) {
  const base = path`/v1/apps/${info.id}`;
  const act = info.suspended ? 'resume' : 'suspend';
  return button({
    label: t(`app.${act}`), kind: info.suspended ? 'primary' : 'danger', role: 'administer',
    onClick: async () => {
      if (await confirmAction({ title: t(`app.${act}Title`, { app: info.id }), text: t(`app.${act}Text`), action: t(`app.${act}`), danger: !info.suspended, typed: info.suspended ? null : info.id, act: () => api.post(`${base}/${act}`, {}) })) {
        await page.reloadApps();
        page.reload();
      }
    },
  });
}

export default async function open(page) {
  const { app, signal, query } = page;
  page.setTitle(t('nav.settings'));
  const answer = await api.get(path`/v1/apps/${app}`, null, { signal });
  const info = answer.app ?? answer;
  page.root.append(
    pageHead({ title: t('nav.settings'), lead: tx('settings.lead', { app, revision: info.revision, created: date(info.created_at) }), actions: suspendButton(page, info) }),
    ...(info.suspended ? [note('bad', h('p', t('app.suspendedText')))] : []),
    ...(info.imported ? [note('info', h('p', t('app.importedText')))] : []),
    tabs({
      label: t('nav.settings'), chosen: query.tab,
      onChoose: (key) => replaceAddress(addressOf('apps', app, 'settings', { tab: key })),
      tabs: [
        ['general', t('settings.tab.general'), () => card({ title: t('settings.tab.general') }, generalForm(page, info))],
        ['push', t('settings.tab.push'), () => card({ title: t('settings.tab.push') }, pushForm(page, info))],
        ['keys', t('settings.tab.keys'), () => keysTab(page, info)],
        ['limits', t('settings.tab.limits'), () => card({ title: t('settings.tab.limits') }, limitsForm(page, info))],
        ['words', t('settings.tab.words'), () => card({ title: t('settings.tab.words') }, wordsForm(page, info))],
        ['storage', t('settings.tab.storage'), () => storageCard(page)],
      ],
    }),
    curlBlock(curlOf('GET', path`/v1/apps/${app}`)));
}
