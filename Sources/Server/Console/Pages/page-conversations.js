// Conversations, by kind and id; and the accounts that speak for the app.

import { h, bdi } from './dom.js';
import { api, path } from './api.js';
import { t, number } from './text.js';
import { addressOf, go } from './address.js';
import { pageHead, card, table, field, textInput, select, button, emptyState, pagedList, personLink, chip } from './widgets.js';

const GROUPS = ['GRP', 'DS', 'CHRM'];

export default async function open(page) {
  const { app, signal } = page;
  page.setTitle(t('nav.conversations'));
  const kind = select(GROUPS.map((each) => [each, t(`kind.${each}`)]), 'GRP', { name: 'kind' });
  const input = textInput({ required: true, name: 'conversation' });
  const entry = field({ label: t('conversations.id'), hint: t('conversations.idHint'), input });
  const find = h('form.form-row', {
    novalidate: true, role: 'search', 'aria-label': t('conversations.find'),
    on: {
      submit: (event) => {
        event.preventDefault();
        const id = input.value.trim();
        entry.fail(id ? '' : t('conversations.idMissing'));
        if (id) go(addressOf('apps', app, 'conversations', kind.value, id));
      },
    },
  }, field({ label: t('message.kind'), input: kind }), entry, button({ label: t('messages.open'), kind: 'primary', iconName: 'search', type: 'submit' }));
  page.root.append(
    pageHead({ title: t('nav.conversations'), lead: t('conversations.lead') }),
    card({ title: t('conversations.find') }, find),
    card({ title: t('conversations.all'), lead: t('conversations.allLead') }, pagedList(signal, async (cursor) => {
      const answer = await api.get(path`/v1/apps/${app}/conversations`, { cursor }, { signal });
      return { items: answer.conversations, next: answer.next };
    }, (conversations) => table({
      caption: t('conversations.all'),
      columns: [
        { label: t('message.conversation'), cell: (row) => [h('a', { href: addressOf('apps', app, 'conversations', row.conversation.type, row.conversation.target) }, bdi(row.name || row.conversation.target)), row.name ? [' ', h('code.quiet', bdi(row.conversation.target))] : ''] },
        { label: t('message.kind'), cell: (row) => t(`kind.${row.conversation.type}`) },
        { label: t('conversations.members'), className: 'num', cell: (row) => number(row.members) },
        { label: t('frame.state'), cell: (row) => (row.is_dissolved ? chip('quiet', t('conversations.dissolved')) : chip('good', t('apps.open'))) },
      ],
      rows: conversations,
      empty: emptyState({ title: t('conversations.none'), text: t('conversations.noneText') }),
    }))),
    card({ title: t('accounts.title'), lead: t('accounts.lead') }, pagedList(signal, async (cursor) => {
      const answer = await api.get(path`/v1/apps/${app}/accounts`, { cursor }, { signal });
      return { items: answer.accounts, next: answer.next };
    }, (accounts) => table({
      caption: t('accounts.title'),
      columns: [
        { label: t('accounts.account'), cell: (row) => [h('code', bdi(row.id)), row.name ? [' ', bdi(row.name)] : ''] },
        { label: t('message.kind'), cell: (row) => t(`kind.${row.kind}`) },
        { label: t('accounts.audience'), cell: (row) => chip('info', t(`accounts.audience.${row.audience}`)) },
        { label: t('accounts.followers'), className: 'num', cell: (row) => number(row.followers) },
        { label: t('accounts.owner'), cell: (row) => (row.owner ? personLink(app, row.owner) : h('span.quiet', t('accounts.backend'))) },
        { label: t('accounts.operators'), cell: (row) => (row.operators.length ? row.operators.map((user, index) => [index ? ', ' : '', personLink(app, user)]) : '–') },
      ],
      rows: accounts,
      empty: emptyState({ title: t('accounts.none'), text: t('accounts.noneText'), code: `curl -X PUT ${location.origin}/v1/apps/${app}/accounts/MP/news -H "Authorization: Bearer $KEY"` }),
    }))));
}
