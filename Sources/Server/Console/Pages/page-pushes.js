// Pushes to audiences: those there are, the newest first.

import { h, bdi } from './dom.js';
import { api, path } from './api.js';
import { t, number, dateTime, list } from './text.js';
import { addressOf } from './router.js';
import { pageHead, card, table, button, emptyState, pagedList, chip, idChip, roleNote } from './widgets.js';

const KINDS = { scheduled: 'wait', running: 'wait', done: 'good', cancelled: 'quiet', recalling: 'wait', recalled: 'quiet' };

export function pushStateChip(push) {
  return chip(KINDS[push.state] ?? 'quiet', t(`pushState.${push.state}`));
}

/** A part of an audience: one that is itself put together stands in brackets. */
function partWords(audience) {
  return 'all' in audience || 'any' in audience ? t('audience.group', { audience: audienceWords(audience) }) : audienceWords(audience);
}

/** Whom an audience is, in words; what is long is counted. */
export function audienceWords(audience) {
  const [[kind, value]] = Object.entries(audience);
  const names = (items) => (items.length > 3 ? t('audience.many', { first: items.slice(0, 2).join(', '), n: number(items.length - 2) }) : list(items));
  switch (kind) {
    case 'everybody': return t('audience.everybody');
    case 'users': return t('audience.users', { users: names(value) });
    case 'devices': return t('audience.devices', { devices: names(value.map((each) => each.device)) });
    case 'tag': return t('audience.tag', { tag: value });
    case 'alias': return t('audience.alias', { alias: value });
    case 'not': return t('audience.not', { audience: partWords(value) });
    case 'all': return value.map(partWords).join(t('audience.and'));
    case 'any': return value.map(partWords).join(t('audience.or'));
    default: return kind;
  }
}

/** A line of a notification: a text, or the key under which phones look it up. */
function lineWords(line) {
  return typeof line === 'string' ? line : [line.loc_key, ...(line.loc_args ?? [])].join(' ');
}

/** What a push says, where it was asked for. */
function contentCell({ content }) {
  // A list that was on its way when texts were asked for has none.
  if (!content?.title && !content?.text) return h('span.quiet', t('pushes.noText'));
  return [content.title ? h('strong', bdi(lineWords(content.title))) : null, content.text ? h('p', bdi(lineWords(content.text))) : null].filter(Boolean);
}

export default async function open(page) {
  const { app, signal } = page;
  page.setTitle(t('nav.pushes'));
  const newPush = button({ label: t('pushes.new'), kind: 'primary', iconName: 'plus', href: addressOf('apps', app, 'pushes', 'new') });
  // Texts are hidden until somebody asks for them, which the audit keeps.
  let withContent = false;
  const list = pagedList(signal, async (cursor) => {
    const address = withContent ? path`/v1/apps/${app}/pushes/contents` : path`/v1/apps/${app}/pushes`;
    const answer = await api.get(address, { cursor }, { signal });
    return { items: answer.pushes, next: answer.next };
  }, (pushes) => table({
    caption: t('nav.pushes'),
    columns: [
      { label: t('pushes.push'), cell: (row) => [h('a', { href: addressOf('apps', app, 'pushes', row.id) }, t(`push.kind.${row.kind}`)), h('div.quiet', idChip(row.id))] },
      ...(withContent ? [{ label: t('pushes.says'), cell: contentCell }] : []),
      { label: t('frame.state'), cell: pushStateChip },
      { label: t('pushes.audience'), cell: (row) => bdi(audienceWords(row.audience)) },
      { label: t('pushes.when'), cell: (row) => dateTime(row.send_at ?? row.created_at) },
      { label: t('pushes.recipients'), className: 'num', cell: (row) => number(row.progress.recipients) },
      { label: t('pushes.accepted'), className: 'num', cell: (row) => number(row.statistics.accepted) },
      { label: t('pushes.opened'), className: 'num', cell: (row) => number(row.statistics.opened) },
    ],
    rows: pushes,
    empty: emptyState({ title: t('pushes.none'), text: t('pushes.noneText'), action: button({ label: t('pushes.new'), kind: 'primary', href: addressOf('apps', app, 'pushes', 'new') }) }),
  }));
  const reveal = button({
    label: t('pushes.showContent'), iconName: 'eye', role: 'content',
    onClick: () => {
      withContent = true;
      reveal.hidden = true;
      list.reload();
    },
  });
  page.root.append(
    pageHead({
      title: t('nav.pushes'), lead: t('pushes.lead'),
      actions: [button({ label: t('pushes.newMessage'), href: addressOf('apps', app, 'pushes', 'new', { what: 'message' }) }), newPush],
    }),
    card({ title: t('pushes.all'), actions: reveal }, list),
    ...[roleNote('content')].filter(Boolean));
  page.live(['push_job'], (events) => {
    if (events.some((event) => event.data.is_news) && !list.contains(document.activeElement)) list.reload();
  });
}
