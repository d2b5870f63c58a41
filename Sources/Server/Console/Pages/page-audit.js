// Who has changed what: of the server, or of one app.

import { h, bdi } from './dom.js';
import { api, path, curlOf } from './api.js';
import { t, hasText, dateTime } from './text.js';
import { addressOf, replaceAddress } from './address.js';
import { pageHead, card, table, button, chip, field, textInput, pagedList, emptyState, roleNote, curlBlock } from './widgets.js';
import { may } from './session.js';

function actorWords(actor) {
  return actor.kind === 'operator' ? bdi(actor.name) : chip('info', t(`audit.${actor.kind}`));
}

export default async function open(page) {
  const { app, signal } = page;
  const title = app ? t('nav.appAudit') : t('audit.title');
  page.setTitle(title);
  const appInput = app ? null : textInput({ value: page.query.app ?? '', name: 'app' });
  const actorInput = textInput({ value: page.query.actor ?? '', name: 'actor' });
  const box = h('div');
  const address = app ? path`/v1/apps/${app}/audit` : '/v1/audit';
  const makeTable = (records) => table({
    caption: title,
    columns: [
      { label: t('frame.time'), cell: (row) => dateTime(row.at) },
      { label: t('audit.who'), cell: (row) => actorWords(row.actor) },
      { label: t('audit.action'), cell: (row) => (hasText(`action.${row.action}`) ? t(`action.${row.action}`) : h('code', bdi(row.action))) },
      ...(app ? [] : [{ label: t('frame.app'), cell: (row) => (row.app ? h('a', { href: addressOf('apps', row.app) }, bdi(row.app)) : '–') }]),
      { label: t('audit.subject'), cell: (row) => (row.subject ? h('code', bdi(row.subject)) : '–') },
      ...(app ? [] : [{ label: t('audit.address'), cell: (row) => (row.address ? h('code', row.address) : '–') }]),
      { label: t('audit.outcome'), cell: (row) => (row.outcome === 'done' ? chip('good', t('audit.done')) : chip('bad', row.outcome)) },
    ],
    rows: records,
    empty: emptyState({ title: t('audit.none'), text: t('audit.noneText') }),
  });
  const show = () => {
    const query = { actor: actorInput.value.trim(), ...(app ? {} : { app: appInput.value.trim() }) };
    replaceAddress(app ? addressOf('apps', app, 'audit', query) : addressOf('audit', query));
    box.replaceChildren(pagedList(signal, async (cursor) => {
      const answer = await api.get(address, { ...query, cursor }, { signal });
      return { items: answer.records, next: answer.next };
    }, makeTable));
  };
  const isAllowed = app || may('administer');
  page.root.append(
    pageHead({ title, lead: t(app ? 'audit.appLead' : 'audit.lead') }),
    ...(isAllowed ? [
      card({}, h('form.form-row', {
        novalidate: true, role: 'search', 'aria-label': t('audit.filter'),
        on: { submit: (event) => { event.preventDefault(); show(); } },
      }, app ? null : field({ label: t('frame.app'), input: appInput, optional: true }), field({ label: t('audit.who'), hint: t('audit.whoHint'), input: actorInput, optional: true }),
      button({ label: t('audit.filter'), type: 'submit' })), box),
      curlBlock(curlOf('GET', address)),
    ] : [roleNote('administer')]));
  if (isAllowed) show();
}
