// What pushes go out with: keys and certificates, what APNs says of them, and how one takes another's place.

import { h, icon, shape, bdi } from './dom.js';
import { api, path, curlOf } from './api.js';
import { t, tx, date, dateTime, relative, list, timeElement } from './text.js';
import { pageHead, card, facts, chip, button, note, field, textInput, select, showRefusal, roleNote, confirmAction, idChip, emptyState, formDialog, curlBlock, toast, loaded, checkbox } from './widgets.js';

const STATES = { active: 'good', uploaded: 'wait', replaced: 'quiet', rolled_back: 'quiet' };
const VERDICTS = { proven: 'good', topic_proven: 'good', refused: 'bad', undecided: 'wait' };
const BYTES_MAX = 65_536;
const DAY = 86_400_000;

function toBase64(buffer) {
  let text = '';
  for (const byte of new Uint8Array(buffer)) text += String.fromCharCode(byte);
  return btoa(text);
}

/** What keeps a file from being sent at all; null where nothing does. */
function faultOf(file) {
  if (file.size === 0) return t('credentials.empty');
  if (file.size > BYTES_MAX) return t('credentials.tooLarge');
  if (/\.cer$/i.test(file.name)) return t('credentials.cer');
  if (/\.mobileprovision$/i.test(file.name)) return t('credentials.profile');
  return null;
}

function expiryChip(credential) {
  if (!credential.expires_at) return chip('good', t('credentials.noExpiry'));
  const left = credential.expires_at - Date.now();
  const kind = left <= 7 * DAY ? 'bad' : left <= 30 * DAY ? 'wait' : 'good';
  return chip(kind, t(left <= 0 ? 'credentials.expired' : 'credentials.expires', { when: relative(credential.expires_at), date: date(credential.expires_at) }), dateTime(credential.expires_at));
}

function nameOf(credential) {
  return credential.key_id ? t('credentials.keyNamed', { id: credential.key_id }) : t('credentials.certificateNamed', { topic: credential.topics[0] ?? credential.id });
}

function proofLine(proof) {
  return h('li', chip(proof.good ? 'good' : 'bad', t(`environment.${proof.environment}`)), ' ',
    proof.good ? t('credentials.taken') : tx('credentials.refused', { reason: proof.reason ?? '–' }), ' ', h('span.quiet', timeElement(proof.at)));
}

/** Asks APNs about a credential; shows its real answer. */
function proveDialog(page, credential) {
  const { app } = page;
  const environments = credential.environments.length ? credential.environments : ['sandbox', 'production'];
  const environment = select(environments.map((each) => [each, t(`environment.${each}`)]), environments[0]);
  const app1 = page.apps().find((each) => each.id === app);
  const topic = textInput({ value: credential.topics[0] ?? app1?.settings?.push?.topics?.[0] ?? '', placeholder: 'com.example.chat' });
  const token = textInput({ class: 'mono' });
  const fields = {
    environment: field({ label: t('device.environment'), input: environment }),
    topic: field({ label: t('device.topic'), hint: t('credentials.topicHint'), input: topic }),
    token: field({ label: t('credentials.token'), hint: t('credentials.tokenHint'), input: token, optional: true, wide: true }),
  };
  return formDialog({
    title: t('credentials.proveTitle', { name: nameOf(credential) }), action: t('credentials.prove'), fields, stays: true,
    content: [h('p', t('credentials.proveText')), Object.values(fields)],
    send: async (told) => {
      const proof = await api.post(path`/v1/apps/${app}/push-credentials/${credential.id}/prove`, {
        environment: environment.value, topic: topic.value.trim() || null, token: token.value.trim() || null,
      });
      told.replaceChildren(note(VERDICTS[proof.verdict] ?? 'info',
        h('p', h('strong', t(`proof.${proof.verdict}`)), proof.reason ? [' ', h('code', proof.reason)] : ''),
        h('p', bdi(proof.meaning))));
    },
  }).then(() => page.reload());
}

async function activateDialog(page, credential, all) {
  const { app } = page;
  const active = all.filter((each) => each.state === 'active');
  const place = select([['', t('credentials.beside')], ...active.map((each) => [each.id, t('credentials.inPlaceOf', { name: nameOf(each) })])], active[0]?.id ?? '');
  const unproven = checkbox(t('credentials.unproven'));
  const isProven = credential.proofs.some((proof) => proof.good);
  const done = await formDialog({
    title: t('credentials.activateTitle', { name: nameOf(credential) }), action: t('credentials.activate'),
    content: [
      h('p', t('credentials.activateText')), field({ label: t('credentials.place'), input: place, wide: true }),
      isProven ? null : [note('wait', h('p', t('credentials.notProven'))), unproven],
    ],
    send: () => api.post(path`/v1/apps/${app}/push-credentials/${credential.id}/activate`, {
      in_place_of: place.value || null, unproven: unproven.input.checked || null,
    }),
  });
  if (!done) return;
  toast(t('credentials.activated'));
  page.reload();
}

function credentialCard(page, credential, all) {
  const { app } = page;
  const address = path`/v1/apps/${app}/push-credentials/${credential.id}`;
  const ask = (what, kind, act) => button({
    label: t(`credentials.${what}`), kind, role: 'administer',
    onClick: async () => {
      if (await confirmAction({ title: t(`credentials.${what}Title`, { name: nameOf(credential) }), text: t(`credentials.${what}Text`), action: t(`credentials.${what}`), act, danger: kind === 'danger' })) page.reload();
    },
  });
  return card({ title: nameOf(credential), actions: h('span.chips', chip(STATES[credential.state] ?? 'quiet', t(`credentials.state.${credential.state}`)), expiryChip(credential)) },
    facts([
      [t('message.kind'), t(`credentials.kind.${credential.kind}`)],
      [t('credentials.team'), credential.team_id ? h('code', credential.team_id) : null],
      [t('credentials.topics'), credential.topics.length ? h('span', list(credential.topics)) : t('credentials.allTopics')],
      [t('credentials.environments'), credential.environments.length ? list(credential.environments.map((each) => t(`environment.${each}`))) : t('credentials.bothEnvironments')],
      [t('credentials.uploaded'), dateTime(credential.created_at)],
      [t('credentials.fingerprint'), idChip(credential.fingerprint)],
    ]),
    credential.proofs.length ? h('div.stack', h('h3', t('credentials.proofs')), h('ul.proofs', credential.proofs.map(proofLine))) : h('p.quiet', t('credentials.noProof')),
    credential.proven_topics.length ? h('p', shape('good'), ' ', t('credentials.proven', { topics: list(credential.proven_topics.map((each) => `${each.topic} (${t(`environment.${each.environment}`)})`)) })) : null,
    h('div.actions',
      button({ label: t('credentials.prove'), role: 'administer', onClick: () => proveDialog(page, credential) }),
      credential.state === 'active' ? null : button({ label: t('credentials.activate'), kind: 'primary', role: 'administer', onClick: () => activateDialog(page, credential, all) }),
      credential.state === 'active' && credential.replaces ? ask('rollBack', '', () => api.post(`${address}/roll-back`, {})) : null,
      credential.state === 'active' ? ask('retire', 'danger', () => api.post(`${address}/retire`, {})) : ask('forget', 'danger', () => api.delete(address))));
}

function uploadCard(page) {
  const { app } = page;
  let file = null;
  const picker = h('input', { type: 'file', accept: '.p8,.p12,.pfx,.pem,.key,.crt', name: 'file', class: 'off-screen', id: 'credential-file', tabindex: '-1' });
  const chosen = h('p', t('credentials.drop'));
  const password = h('input', { type: 'password', autocomplete: 'off', name: 'password' });
  const keyId = textInput({ class: 'mono', name: 'key_id', maxlength: 10 });
  const teamId = textInput({ class: 'mono', name: 'team_id', maxlength: 10 });
  const topics = textInput({ name: 'topics' });
  const environments = select([['', t('credentials.bothEnvironments')], ['sandbox', t('environment.sandbox')], ['production', t('environment.production')]], '');
  const fields = {
    password: field({ label: t('credentials.password'), hint: t('credentials.passwordHint'), input: password, optional: true }),
    team_id: field({ label: t('credentials.team'), hint: t('credentials.teamHint'), input: teamId }),
    key_id: field({ label: t('credentials.keyId'), hint: t('credentials.keyIdHint'), input: keyId, optional: true }),
    topics: field({ label: t('credentials.topics'), hint: t('credentials.topicsHint'), input: topics, optional: true }),
    environments: field({ label: t('credentials.environments'), input: environments }),
  };
  const more = h('div.form', { hidden: true });
  const refusal = h('div', { 'aria-live': 'assertive' });
  const submit = button({ label: t('credentials.upload'), kind: 'primary', iconName: 'upload', type: 'submit', role: 'administer' });
  const choose = (picked) => {
    if (!picked) return;
    const fault = faultOf(picked);
    refusal.replaceChildren(...(fault ? [note('bad', h('p', fault))] : []));
    file = fault ? null : picked;
    more.hidden = !file;
    if (!file) return;
    chosen.replaceChildren(h('strong', bdi(picked.name)));
    const isKey = /\.p8$/i.test(picked.name);
    const isP12 = /\.(p12|pfx)$/i.test(picked.name);
    keyId.value = /^AuthKey_([A-Z0-9]{10})/.exec(picked.name)?.[1] ?? '';
    // What a certificate says itself is not asked for.
    more.replaceChildren(...(isKey ? [fields.team_id, fields.key_id, fields.topics, fields.environments] : [fields.password, ...(isP12 ? [] : [fields.team_id, fields.key_id])]), h('div.form-row', submit));
    more.querySelector('input')?.focus();
  };
  const drop = h('div.drop', {
    on: {
      dragover: (event) => { event.preventDefault(); drop.classList.add('over'); },
      dragleave: () => drop.classList.remove('over'),
      drop: (event) => {
        event.preventDefault();
        drop.classList.remove('over');
        choose(event.dataTransfer.files[0]);
      },
    },
  }, icon('upload'), chosen, h('p.quiet', t('credentials.dropHint')), picker,
  button({ label: t('credentials.choose'), role: 'administer', onClick: () => picker.click() }));
  picker.setAttribute('aria-label', t('credentials.choose'));
  picker.addEventListener('change', () => choose(picker.files[0]));
  return card({ title: t('credentials.add'), lead: t('credentials.addLead') }, h('form.stack', {
    novalidate: true,
    on: {
      submit: async (event) => {
        event.preventDefault();
        if (!file) return;
        submit.setAttribute('aria-busy', 'true');
        const isP12 = /\.(p12|pfx)$/i.test(file.name);
        const isKey = /\.p8$/i.test(file.name);
        try {
          await api.post(path`/v1/apps/${app}/push-credentials`, {
            file: toBase64(await file.arrayBuffer()), name: file.name, password: password.value || null,
            key_id: (isP12 ? '' : keyId.value.trim()) || null, team_id: (isP12 ? '' : teamId.value.trim()) || null,
            topics: isKey && topics.value.trim() ? topics.value.split(/[,，\s]+/).filter(Boolean) : null,
            environments: isKey && environments.value ? [environments.value] : null,
          });
          toast(t('credentials.wasUploaded'));
          page.reload();
        } catch (problem) { showRefusal(refusal, problem, fields); } finally { submit.removeAttribute('aria-busy'); }
      },
    },
  }, drop, more, refusal, roleNote('administer')));
}

export default async function open(page) {
  const { app, signal } = page;
  page.setTitle(t('nav.credentials'));
  const address = path`/v1/apps/${app}/push-credentials`;
  page.root.append(
    pageHead({ title: t('nav.credentials'), lead: t('credentials.lead') }),
    loaded(signal, async () => (await api.get(address, null, { signal })).push_credentials, (all) => (all.length
      ? h('div.stack', [...all].sort((a, b) => (a.state === 'active' ? 0 : 1) - (b.state === 'active' ? 0 : 1) || b.created_at - a.created_at).map((each) => credentialCard(page, each, all)))
      : emptyState({ title: t('credentials.none'), text: t('credentials.noneText') }))),
    uploadCard(page),
    curlBlock(curlOf('GET', address)));
}
