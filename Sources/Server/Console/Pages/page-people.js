// The app's people.

import { h, bdi } from './dom.js';
import { api, path } from './api.js';
import { t, number } from './text.js';
import { addressOf, go } from './address.js';
import { pageHead, card, table, field, textInput, button, emptyState, pagedList, chip } from './widgets.js';

export default async function open(page) {
  const { app, signal } = page;
  page.setTitle(t('nav.people'));
  const input = textInput({ required: true, name: 'person' });
  const entry = field({ label: t('messages.person'), input });
  const find = h('form.form-row', {
    novalidate: true, role: 'search', 'aria-label': t('people.find'),
    on: {
      submit: (event) => {
        event.preventDefault();
        const id = input.value.trim();
        entry.fail(id ? '' : t('messages.personMissing'));
        if (id) go(addressOf('apps', app, 'people', id));
      },
    },
  }, entry, button({ label: t('messages.toPerson'), kind: 'primary', iconName: 'search', type: 'submit' }));
  page.root.append(
    pageHead({ title: t('nav.people'), lead: t('people.lead') }),
    card({ title: t('people.find') }, find),
    card({ title: t('people.all') }, pagedList(signal, async (cursor) => {
      const answer = await api.get(path`/v1/apps/${app}/users`, { cursor }, { signal });
      return { items: answer.users, next: answer.next };
    }, (users) => table({
      caption: t('people.all'),
      columns: [
        { label: t('people.person'), cell: (row) => h('a', { href: addressOf('apps', app, 'people', row.id) }, bdi(row.id)) },
        { label: t('people.devices'), className: 'num', cell: (row) => number(row.devices) },
        { label: t('people.unread'), className: 'num', cell: (row) => number(row.unread) },
        { label: t('frame.state'), cell: (row) => (row.banned ? chip('bad', t('people.banned')) : row.devices ? chip('good', t('people.signedIn')) : chip('quiet', t('people.noDevice'))) },
      ],
      rows: users,
      empty: emptyState({ title: t('people.none'), text: t('people.noneText') }),
    }))));
}
