// One conversation: who is in it, who may write, and what was written, once somebody asks to see it.

import { h, bdi } from './dom.js';
import { api, path, curlOf } from './api.js';
import { t, dateTime, number } from './text.js';
import { addressOf } from './address.js';
import { pageHead, card, table, chip, button, emptyState, pagedList, personLink, roleNote, facts, field, textInput, idChip, strangerText, curlBlock, loaded, codeBlock, disclosure } from './widgets.js';
import { may } from './session.js';
import { readContent } from './links.js';

const WITH_MEMBERS = ['GRP', 'DS', 'CHRM'];

function membersTable(app, info) {
  return table({
    caption: t('conversation.members'),
    columns: [
      { label: t('people.person'), cell: (row) => personLink(app, row.user) },
      { label: t('conversation.role'), cell: (row) => t(`memberRole.${row.role}`) },
      { label: t('conversation.nickname'), cell: (row) => (row.nickname ? strangerText(row.nickname) : '–') },
      { label: t('conversation.writes'), cell: (row) => (row.is_muted ? chip('bad', row.muted_until ? t('conversation.mutedUntil', { time: dateTime(row.muted_until) }) : t('conversation.muted')) : chip('good', t('conversation.mayWrite'))) },
    ],
    rows: info.members,
    empty: emptyState({ title: t('conversation.noMembers'), text: t('conversation.noMembersText') }),
  });
}

/** What was written, as one of its people can read it; hidden until somebody who may asks. */
function historyCard(page, type, id, viewer) {
  const { app, signal } = page;
  const box = h('div.stack');
  const user = textInput({ value: viewer ?? '', required: true, name: 'reader' });
  const entry = field({ label: t('conversation.reader'), hint: t('conversation.readerHint'), input: user });
  const list = h('div', { 'aria-live': 'polite' });
  box.append(h('p.quiet', t('message.contentLead')), h('form.form-row', {
    novalidate: true,
    on: {
      submit: (event) => {
        event.preventDefault();
        entry.fail(user.value.trim() ? '' : t('messages.personMissing'));
        if (!user.value.trim() || !may('content')) return;
        list.replaceChildren(pagedList(signal, async (cursor) => {
          const answer = await api.get(path`/v1/apps/${app}/conversations/${type}/${id}/messages`, { user: user.value.trim(), cursor }, { signal });
          return { items: answer.messages, next: answer.next };
        }, (messages) => table({
          caption: t('conversation.history'),
          columns: [
            { label: t('message.text'), cell: (row) => strangerText(readContent(row) ?? row.object_name) },
            { label: t('message.sender'), cell: (row) => personLink(app, row.sender) },
            { label: t('frame.time'), cell: (row) => dateTime(row.sent_at) },
            { label: t('message.id'), cell: (row) => idChip(row.message_id, { href: addressOf('apps', app, 'messages', row.message_id) }) },
          ],
          rows: messages,
          empty: emptyState({ title: t('conversation.noHistory'), text: t('conversation.noHistoryText') }),
        })));
      },
    },
  }, entry, button({ label: t('message.showContent'), iconName: 'eye', type: 'submit', role: 'content' })), ...[roleNote('content')].filter(Boolean), list);
  return card({ title: t('conversation.history') }, box);
}

export default async function open(page) {
  const { app, signal, params: { type, id } } = page;
  page.setTitle(t('title.conversation', { kind: t(`kind.${type}`), id }));
  const crumbs = [[t('nav.conversations'), addressOf('apps', app, 'conversations')]];
  const address = path`/v1/apps/${app}/conversations/${type}/${id}`;
  if (!WITH_MEMBERS.includes(type)) {
    // A conversation of two is the person, seen from the other side.
    page.root.append(pageHead({ title: [t(`kind.${type}`), ' ', bdi(id)], crumbs, lead: t('conversation.ofTwo') }),
      ...(type === 'PR' ? [h('div.actions', button({ label: t('messages.toPerson'), href: addressOf('apps', app, 'people', id) }))] : []),
      historyCard(page, type, id));
    return;
  }
  const info = await api.get(address, null, { signal });
  const mutes = loaded(signal, () => api.get(`${address}/mutes`, { limit: 100 }, { signal }), (answer) => table({
    caption: t('conversation.mutes'), captionHidden: false,
    columns: [
      { label: t('people.person'), cell: (row) => personLink(app, row.user) },
      { label: t('settings.until'), cell: (row) => (row.until ? dateTime(row.until) : t('settings.forGood')) },
    ],
    rows: answer.mutes ?? [],
    empty: h('p.quiet', t('conversation.noMutes')),
  }), 1);
  const invitations = type === 'CHRM' ? null : loaded(signal, () => api.get(`${address}/invitations`, { limit: 100 }, { signal }), (answer) => table({
    caption: t('conversation.invitations'), captionHidden: false,
    columns: [
      { label: t('people.person'), cell: (row) => personLink(app, row.user) },
      { label: t('conversation.invitedBy'), cell: (row) => (row.by ?? row.inviter ? personLink(app, row.by ?? row.inviter) : '–') },
    ],
    rows: answer.invitations ?? [],
    empty: h('p.quiet', t('conversation.noInvitations')),
  }), 1);
  page.root.append(
    pageHead({
      title: info.name ? [bdi(info.name), ' ', h('code.quiet', bdi(id))] : bdi(id), crumbs,
      lead: h('span.chips', chip('info', t(`kind.${type}`)), info.is_dissolved ? chip('bad', t('conversation.dissolved')) : null, info.only_admins_write ? chip('wait', t('conversation.onlyAdmins')) : null),
    }),
    h('div.grid.grid-wide',
      card({ title: t('conversation.members') }, membersTable(app, info)),
      card({ title: t('person.about') }, facts([
        [t('frame.id'), idChip(id, { whole: true })],
        [t('message.kind'), t(`kind.${type}`)],
        [t('conversation.count'), number(info.members.length)],
        [t('conversation.version'), number(info.version)],
        [t('person.portrait'), info.portrait ? strangerText(info.portrait) : t('frame.none')],
      ]), info.push ? disclosure(t('compose.options'), codeBlock(JSON.stringify(info.push, null, 2), t('compose.options'))) : null, mutes, invitations)),
    historyCard(page, type, id, info.members[0]?.user),
    curlBlock(curlOf('GET', address)));
}
