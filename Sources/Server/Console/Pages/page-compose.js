// Writing a push or a message: with a view of it as it is written, how many it reaches, and a try on one's own phone first.

import { h, bdi, loadStyle } from './dom.js';
import { api, path, curlOf, Problem } from './api.js';
import { t, tn, tx, number, bytes, dateTime } from './text.js';
import { addressOf, go } from './address.js';
import { pageHead, card, field, textInput, select, button, note, codeBlock, disclosure, showRefusal, roleNote, problemBox, toast, formDialog, confirmAction, chip } from './widgets.js';
import { may } from './session.js';
import { deviceWords } from './devices.js';
import { audienceWords } from './page-pushes.js';
import { payloadPreview } from './payload.js';
import { KINDS, openDraft, forgetDraft, rememberSent } from './compose-draft.js';
import { templatesBox } from './compose-templates.js';
import { lineWords, notificationView } from './notification.js';
import { audienceCard, scheduleCard, segments } from './compose-audience.js';
import { silentParts } from './compose-silent.js';

/** From so many devices on, the server asks for the password and the count. */
const MANY = 1_000;
/** What the server takes of each, in bytes of UTF-8. */
const LIMITS = { title: 256, subtitle: 256, text: 1_024, sound: 64, category: 64, thread_id: 64, image: 1_024, custom: 1_024 };

function bytesOf(text) {
  return new TextEncoder().encode(text).length;
}

/** How it will look: as a banner on the lock screen, and as an entry of the list. `told` is what the server says of it, once it has. */
function preview(app, draft, told) {
  const title = told ? lineWords(told.title) : draft.what === 'message' ? (draft.options.title || draft.sender) : draft.options.title;
  const subtitle = told ? lineWords(told.subtitle) : draft.options.subtitle;
  const text = told ? lineWords(told.body) : draft.text;
  if (draft.what === 'custom') return h('p.quiet', t('compose.customPreview'));
  const alert = (isBanner) => notificationView(app, { title, subtitle, text }, isBanner);
  const level = draft.options.interruption_level;
  return h('div.stack',
    h('div.wallpaper', h('p.wallpaper-time', { 'aria-hidden': 'true' }, '9:41'), level === 'passive' ? h('p.wallpaper-note', t('compose.passive')) : alert(true),
      level === 'time-sensitive' || level === 'critical' ? h('p.wallpaper-note', t(`level.${level}`)) : null),
    h('div.list-preview', h('p.quiet', t('compose.inList')), alert(false)));
}

/** How much of each limit is used. */
function budget(draft) {
  const rows = Object.entries(LIMITS).map(([key, most]) => ({ key, most, used: bytesOf(key === 'text' ? draft.text : draft.options[key] ?? '') }))
    .filter((row) => row.used && !(row.key === 'sound' && draft.options.sound === 'default'));
  if (!rows.length) return h('p.quiet', t('compose.budgetEmpty'));
  return h('ul.budget', rows.map((row) => h('li',
    h('span', t(`compose.${row.key}`)),
    h('span.bar', { 'aria-hidden': 'true' }, h(`span.bar-fill.bar-${row.used > row.most ? 'bad' : 'good'}`, { vars: { '--share': `${Math.min(100, (row.used / row.most) * 100)}%` } })),
    h('span.num', t('compose.of', { used: number(row.used), most: number(row.most) })),
    row.used > row.most ? chip('bad', t('compose.tooLong')) : null)));
}

/** What is asked of `pushes/preview`; null where there is too little to show. */
function previewBody(draft) {
  if (draft.what === 'custom' || !draft.text.trim()) return null;
  const body = draft.body();
  if (draft.what === 'message') return draft.sender && draft.target && draft.type !== 'CHRM' ? { send: body } : null;
  return { notification: body.notification, ...(body.account ? { account: body.account } : {}), ...(body.conversation ? { conversation: true } : {}), ...(body.counted ? { counted: true } : {}) };
}

/** The words of the push and how it sounds. */
function contentCard(draft, changed, fields) {
  const option = (key, input, hint) => {
    fields[key] = field({ label: t(`compose.${key}`), input, hint, optional: true });
    return fields[key];
  };
  const line = (key, hint, more = {}) => option(key, textInput({ value: draft.options[key] ?? '', name: key, spellcheck: 'true', ...more, on: { input: (event) => { draft.options[key] = event.target.value; changed(); } } }), hint);
  const text = h('textarea', { rows: 3, required: true, name: 'text', on: { input: () => { draft.text = text.value; changed(); } } });
  text.value = draft.text;
  fields.text = field({ label: t('compose.text'), input: text, wide: true });
  fields.content = fields.text;
  const level = select(['', 'passive', 'active', 'time-sensitive', 'critical'].map((each) => [each, t(`level.${each || 'usual'}`)]), draft.options.interruption_level ?? '', {
    on: { change: () => { draft.options.interruption_level = level.value; changed(); } },
  });
  const custom = h('textarea', { class: 'mono', rows: 3, spellcheck: 'false', placeholder: '{"order": 7}', on: { input: () => { draft.options.custom = custom.value; changed(); } } });
  custom.value = draft.options.custom ?? '';
  if (draft.what === 'custom') return card({ title: t('compose.what') }, h('div.form', line('title'), fields.text), h('p.quiet', t('compose.customLead')));
  return card({ title: t('compose.what') },
    h('div.form', line('title'), line('subtitle'), fields.text),
    disclosure(t('compose.look'), h('div.form',
      line('sound', t('compose.soundHint')), option('interruption_level', level, t('compose.levelHint')), line('thread_id', t('compose.threadHint')), line('category'),
      line('image', t('compose.imageHint'), { inputmode: 'url' }),
      line('relevance_score', t('compose.relevanceHint'), { inputmode: 'decimal' }), (fields.custom = field({ label: t('compose.custom'), hint: t('compose.customHint'), input: custom, optional: true, wide: true })))));
}

function peopleCard(draft, changed, fields) {
  const set = (name) => (event) => { draft[name] = event.target.value.trim(); changed(); };
  const type = select(['PR', 'GRP', 'DS', 'CS', 'SYS', 'MC', 'MP', 'CHRM'].map((each) => [each, t(`compose.kind.${each}`)]), draft.type, { on: { change: set('type') } });
  fields.sender = field({ label: t('message.sender'), hint: t('compose.senderHint'), input: textInput({ value: draft.sender, required: true, name: 'sender', on: { input: set('sender') } }) });
  fields.target = field({ label: t('compose.target'), hint: t('compose.targetHint'), input: textInput({ value: draft.target, required: true, name: 'target', on: { input: set('target') } }) });
  fields['conversation.target'] = fields.target;
  return card({ title: t('compose.between') }, h('div.form', fields.sender, field({ label: t('message.conversation'), input: type }), fields.target));
}

/** What became of the try on one device. `isVirtual`: its screen can be looked at here. */
function tryResult(app, user, device, answer, isVirtual) {
  const size = answer.request ? bytesOf(JSON.stringify(answer.request.payload)) : 0;
  return note(answer.answer.state === 'accepted' ? 'good' : 'wait',
    h('p', h('strong', deviceWords(app, user, device.id)), ' ', bdi(answer.answer.meaning)),
    answer.request ? disclosure(t('compose.payload', { size: bytes(size), most: bytes(4_096) }), codeBlock(JSON.stringify(answer.request.payload, null, 2), t('test.request'))) : null,
    h('p.actions', isVirtual ? h('a', { href: addressOf('phones') }, t('compose.trySee')) : null,
      h('a', { href: addressOf('apps', app, 'people', user, 'devices', device.id) }, t('compose.tryMore'))));
}

/** A push to one phone, before it goes to all: what APNs gets and says is told in full on the device's page. */
function tryCard(page, draft) {
  const { app } = page;
  const user = textInput({ name: 'try-user' });
  const entry = field({ label: t('messages.person'), hint: t('compose.tryHint'), input: user });
  const result = h('div.stack', { 'aria-live': 'polite' });
  const quick = h('div.actions', { hidden: true });
  let virtual = [];
  const send = async () => {
    const id = user.value.trim();
    result.replaceChildren();
    entry.fail(id ? (draft.text.trim() ? '' : t('compose.textMissing')) : t('messages.personMissing'));
    if (!id || !draft.text.trim() || !may('send')) return;
    try {
      const { devices } = await api.get(path`/v1/apps/${app}/users/${id}/devices`, { limit: 100 });
      if (!devices.length) entry.fail(t('compose.tryNoDevice'));
      for (const device of devices) {
        const answer = await api.post(path`/v1/apps/${app}/users/${id}/devices/${device.id}/test-push`, { title: draft.options.title || null, text: draft.text });
        result.append(tryResult(app, id, device, answer, virtual.includes(id)));
      }
    } catch (problem) { showRefusal(result, problem); }
  };
  const submit = button({ label: t('compose.try'), iconName: 'phones', type: 'submit', role: 'send' });
  const form = h('form.form-row', {
    novalidate: true,
    on: {
      submit: async (event) => {
        event.preventDefault();
        submit.setAttribute('aria-busy', 'true');
        try { await send(); } finally { submit.removeAttribute('aria-busy'); }
      },
    },
  }, entry, submit);
  // Where the server has virtual phones, their people are a click away.
  api.get('/v1/phones', null, { signal: page.signal }).then(({ phones }) => {
    virtual = phones.map((phone) => phone.user).filter(Boolean);
    quick.hidden = !virtual.length;
    quick.replaceChildren(h('span.quiet', t('compose.tryPhones')), ...virtual.map((name) => button({
      label: name, kind: 'small', role: 'send', iconName: 'phones', label2: t('compose.tryOn', { name }),
      onClick: () => {
        user.value = name;
        return send();
      },
    })));
  }, () => { /* There are none: most servers run without. */ });
  return card({ title: t('compose.tryTitle'), lead: t('compose.tryLead') }, form, quick, result);
}

/** Says when it goes. */
function timeWords(draft, body) {
  if (draft.when === 'at') return t('compose.goesAt', { time: dateTime(body.send_at) });
  if (draft.when === 'local') return t('compose.goesLocal', { time: body.send_at_local.replace('T', ' '), zone: body.time_zone ?? '–' });
  return t('compose.sendNow');
}

/** Draws what is about to go as it will be seen. */
function reviewView(app, draft) {
  if (draft.what === 'custom') return note('info', h('p', t('compose.customPreview')), h('p', bdi(draft.text)));
  const { title, subtitle } = draft.options;
  return h('div.wallpaper.review', notificationView(app, { title, subtitle, text: draft.text }, true));
}

/** Asks before a push goes out: what it is, how many it reaches. Where it reaches many, the server wants the password and the count, too. */
function confirmSend(app, draft, body, send) {
  const password = h('input', { type: 'password', autocomplete: 'current-password', name: 'password' });
  const typed = textInput({ inputmode: 'numeric', name: 'count' });
  const fields = {
    'confirm.password': field({ label: t('compose.yourPassword'), input: password, wide: true }),
    'confirm.devices': field({ label: t('compose.typeCount', { n: '' }), input: typed, wide: true }),
  };
  const more = h('div.stack', { hidden: true });
  const wantMore = (count) => {
    if (!more.hidden) return;
    fields['confirm.devices'].querySelector('label').textContent = t('compose.typeCount', { n: count });
    more.replaceChildren(note('wait', h('p', t('compose.many'))), fields['confirm.devices'], fields['confirm.password']);
    more.hidden = false;
  };
  if ((draft.devices ?? 0) > MANY) wantMore(draft.devices);
  return formDialog({
    title: t('compose.sendTitle'), action: t('compose.send'), fields,
    content: [
      reviewView(app, draft),
      h('p', tx('compose.sendText', { audience: audienceWords(draft.audience), people: draft.people === null ? t('compose.unknownPeople') : tn('compose.people', draft.people ?? 0) })),
      h('p', h('strong', timeWords(draft, body))), draft.when === 'now' ? null : h('p', t('compose.sendLater')),
      more,
    ],
    send: () => send(more.hidden ? null : { password: password.value, devices: Number(typed.value.replace(/[\s,.]/g, '')) || 0 }),
    refuse: (problem, told) => {
      if (problem.code !== 'confirmation_needed' || problem.field !== 'confirm') return false;
      // The first time it is asked for; after that it was wrong.
      const isFirst = more.hidden;
      wantMore(/\d+/.exec(problem.rule)?.[0] ?? '');
      if (isFirst) told.replaceChildren();
      else fields['confirm.devices'].fail(t('compose.countWrong'));
      typed.focus();
      return true;
    },
  });
}

/** Empties the draft after a question; there only while something was entered. */
function startOverButton(app, draft) {
  return button({
    label: t('compose.startOver'),
    onClick: async () => {
      const isSure = await confirmAction({
        title: t('compose.startOverTitle'), text: t('compose.startOverText'), action: t('compose.startOver'), act: () => forgetDraft(app),
      });
      if (isSure) go(addressOf('apps', app, 'pushes', 'new', { what: draft.what }));
    },
  });
}

/** Sends what was composed; a refusal is told beside its field. */
async function send(page, draft, fields, refusal) {
  const { app } = page;
  for (const each of Object.values(fields)) each.fail('');
  if (!draft.text.trim()) {
    fields.text.fail(t('compose.textMissing'));
    fields.text.input.focus();
    return;
  }
  try {
    if (draft.what === 'message') {
      const sent = await api.post(path`/v1/apps/${app}/messages`, draft.body());
      toast(t('compose.sent'));
      forgetDraft(app);
      go(addressOf('apps', app, 'messages', sent.message_id));
      return;
    }
    if (!draft.audience) throw new Problem({ code: 'invalid_field', detail: t('compose.nobodyYet') });
    const body = draft.body();
    if (draft.when !== 'now' && !(body.send_at || body.send_at_local)) throw new Problem({ code: 'invalid_field', detail: t('compose.timeMissing') });
    const push = await confirmSend(app, draft, body, (confirm) => api.post(path`/v1/apps/${app}/pushes`, confirm ? { ...body, confirm } : body));
    if (!push) return;
    rememberSent(app, push.id, body);
    forgetDraft(app);
    go(addressOf('apps', app, 'pushes', push.id));
  } catch (problem) {
    showRefusal(refusal, problem, Object.fromEntries(Object.entries(fields).flatMap(([key, each]) => [[key, each], [`push.${key}`, each], [`notification.${key}`, each]])));
  }
}

function titleOf(what) {
  return t({ message: 'compose.titleMessage', silent: 'compose.titleSilent' }[what] ?? 'compose.titlePush');
}

/** The fields of the draft, with a view of it and its payload beside them. `startOver` is there while something was entered. */
function composer(page, draft, startOver) {
  const { app } = page;
  const fields = {};
  const look = h('div');
  const sizes = h('div');
  const request = h('div');
  const refusal = h('div', { 'aria-live': 'assertive' });
  const payload = payloadPreview(page, () => previewBody(draft), (told) => look.replaceChildren(preview(app, draft, told.shown)));
  const changed = () => {
    startOver.hidden = draft.isEmpty;
    look.replaceChildren(preview(app, draft));
    sizes.replaceChildren(budget(draft));
    payload.ask();
    let body;
    try { body = draft.body(); } catch { body = null; }
    const isOpen = request.querySelector('details')?.open ?? false;
    const address = path`/v1/apps/${app}/${draft.what === 'message' ? 'messages' : 'pushes'}`;
    request.replaceChildren(body ? disclosure(t('compose.request', { size: bytes(bytesOf(JSON.stringify(body))) }), codeBlock(JSON.stringify(body, null, 2), t('compose.requestLabel')), codeBlock(curlOf('POST', address, body), t('frame.asCurl')))
      : h('p.quiet', t('compose.customWrong')));
    if (isOpen && request.querySelector('details')) request.querySelector('details').open = true;
  };
  const templates = draft.what === 'message' ? null : templatesBox(app, draft, (template) => {
    Object.assign(draft, { text: template.text, options: { ...template.options } });
    page.reload();
  });
  const left = h('div.stack', [
    templates,
    draft.what === 'message' ? peopleCard(draft, changed, fields) : null,
    contentCard(draft, changed, fields),
    draft.what === 'message' ? null : audienceCard(page, draft, changed),
    draft.what === 'message' ? null : scheduleCard(draft, changed),
    draft.what === 'custom' ? null : tryCard(page, draft),
  ].filter(Boolean));
  const review = h('div.actions', button({ label: t(draft.what === 'message' ? 'compose.sendMessage' : 'compose.review'), kind: 'primary wide', role: 'send', onClick: () => send(page, draft, fields, refusal) }));
  const right = h('div.stack.sticky', card({ title: t('compose.preview'), className: 'compose-look' }, look), h('div.stack.compose-send', review, refusal), card({ title: t('compose.budget'), lead: t('compose.budgetLead') }, payload, sizes, request));
  changed();
  return [
    h('div.grid.grid-wide.compose', left, right),
  ];
}

export default async function open(page) {
  await loadStyle('compose.css');
  if (page.signal.aborted) return;
  const { app } = page;
  const draft = openDraft(app, page.query);
  page.setTitle(titleOf(draft.what));
  const startOver = startOverButton(app, draft);
  startOver.hidden = draft.isEmpty;
  page.root.append(
    pageHead({ title: titleOf(draft.what), crumbs: [[t('nav.pushes'), addressOf('apps', app, 'pushes')]], actions: startOver }),
    segments(t('compose.kindLegend'), KINDS.map((key) => [key, t(`compose.what.${key}`)]), draft.what, (what) => go(addressOf('apps', app, 'pushes', 'new', { what }))),
    ...(draft.what === 'silent' ? [silentParts(page, draft, () => { startOver.hidden = draft.isEmpty; })] : composer(page, draft, startOver)),
    ...[roleNote('send')].filter(Boolean));
}
