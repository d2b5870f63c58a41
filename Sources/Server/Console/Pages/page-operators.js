// Those who run the server, and what they may do.

import { h, bdi } from './dom.js';
import { api, path, curlOf } from './api.js';
import { t, tn, date, timeElement } from './text.js';
import { pageHead, card, table, button, chip, field, textInput, select, formDialog, showSecret, roleNote, loaded, confirmAction, curlBlock, facts } from './widgets.js';
import { ROLES, session } from './session.js';
import { changePassword } from './password.js';

function roleSelect(value = 'view') {
  return select(ROLES.map((role) => [role, t(`role.${role}`)]), value);
}

async function addOperator(page) {
  const name = textInput({ required: true });
  const role = roleSelect();
  const fields = { name: field({ label: t('frame.name'), hint: t('operators.nameHint'), input: name, wide: true }), role: field({ label: t('operators.role'), hint: t('operators.roleHint'), input: role, wide: true }) };
  const made = await formDialog({ title: t('operators.add'), action: t('operators.add'), fields, send: () => api.post('/v1/operators', { name: name.value.trim(), role: role.value }) });
  if (!made) return;
  await showSecret({ title: t('operators.keyTitle', { name: made.name }), text: t('operators.keyText'), secret: made.key });
  page.reload();
}

async function changeRole(page, operator) {
  const role = roleSelect(operator.role);
  const fields = { role: field({ label: t('operators.role'), hint: t('operators.roleHint'), input: role, wide: true }) };
  const done = await formDialog({
    title: t('operators.changeTitle', { name: operator.name }), action: t('frame.save'), fields,
    send: () => api.patch(path`/v1/operators/${operator.name}`, { role: role.value }),
  });
  if (done) page.reload();
}

async function rotateKey(page, operator) {
  const done = await confirmAction({
    title: t('operators.rotateTitle', { name: operator.name }), text: t('operators.rotateText'), action: t('operators.rotate'),
    act: () => api.post(path`/v1/operators/${operator.name}/rotate`, {}),
  });
  if (!done) return;
  await showSecret({ title: t('operators.keyTitle', { name: operator.name }), text: t('operators.keyText'), secret: done.value.key });
  page.reload();
}

async function removeOperator(page, operator) {
  const done = await confirmAction({
    title: t('operators.removeTitle', { name: operator.name }), text: t('operators.removeText'), action: t('frame.remove'), typed: operator.name,
    act: () => api.delete(path`/v1/operators/${operator.name}`),
  });
  if (done) page.reload();
}

export default async function open(page) {
  page.setTitle(t('nav.operators'));
  const actions = (operator) => h('div.actions',
    button({ label: t('operators.changeRole'), kind: 'small', role: 'administer', label2: t('operators.changeTitle', { name: operator.name }), onClick: () => changeRole(page, operator) }),
    button({ label: t('operators.rotate'), kind: 'small', role: 'administer', label2: t('operators.rotateTitle', { name: operator.name }), onClick: () => rotateKey(page, operator) }),
    button({
      label: t('password.short'), kind: 'small', role: 'administer', label2: t('password.ofName', { name: operator.name }),
      onClick: async () => { if (await changePassword({ name: operator.name, isOwn: operator.name === session.operator })) page.reload(); },
    }),
    button({ label: t('frame.remove'), kind: 'small danger', role: 'administer', label2: t('operators.removeTitle', { name: operator.name }), onClick: () => removeOperator(page, operator) }));
  page.root.append(
    pageHead({ title: t('nav.operators'), lead: t('operators.lead'), actions: button({ label: t('operators.add'), kind: 'primary', iconName: 'plus', role: 'administer', onClick: () => addOperator(page) }) }),
    ...[roleNote('administer')].filter(Boolean),
    card({ title: t('operators.all') }, loaded(page.signal, async () => (await api.get('/v1/operators', { limit: 100 }, { signal: page.signal })).operators, (operators) => table({
      caption: t('operators.all'),
      columns: [
        { label: t('frame.name'), cell: (row) => [bdi(row.name), row.name === session.operator ? [' ', chip('info', t('operators.you'))] : ''] },
        { label: t('operators.role'), cell: (row) => t(`role.${row.role}`) },
        { label: t('operators.signsIn'), cell: (row) => (row.has_password ? [chip('good', t('operators.password')), row.sessions ? h('p.quiet', tn('operators.sessions', row.sessions)) : ''] : chip('quiet', t('operators.noPassword'))) },
        { label: t('keys.lastUsed'), cell: (row) => (row.last_used_at ? timeElement(row.last_used_at) : t('frame.never')) },
        { label: t('push.created'), cell: (row) => date(row.created_at) },
        { label: t('frame.what'), cell: actions },
      ],
      rows: operators,
    }))),
    card({ title: t('operators.roles') }, facts(ROLES.map((role) => [t(`role.${role}`), t(`role.${role}.may`)]), 'facts-column')),
    curlBlock(curlOf('GET', '/v1/operators')));
}

