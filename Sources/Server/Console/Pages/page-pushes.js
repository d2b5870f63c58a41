// Pushes to audiences: those there are, the newest first.

import { h, bdi } from './dom.js';
import { api, path } from './api.js';
import { t, number, dateTime, list } from './text.js';
import { addressOf } from './address.js';
import { pageHead, card, table, button, emptyState, pagedList, chip, roleNote } from './widgets.js';
import { whenSessionEnds } from './session.js';
import { lineWords } from './notification.js';
import { sentFromHere } from './compose-draft.js';

const KINDS = { scheduled: 'wait', running: 'wait', done: 'good', cancelled: 'quiet', missed: 'bad', recalling: 'wait', recalled: 'quiet' };

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

/** Returns what a push is called: by what it says where that is known here, else by whom it is for. */
export function pushTitle(app, push) {
  const own = sentFromHere(app, push.id);
  const said = push.content ?? { title: own?.notification?.title ?? own?.custom?.title, text: own?.notification?.text ?? own?.custom?.content };
  return lineWords(said.title) || lineWords(said.text) || t('pushes.toAudience', { audience: audienceWords(push.audience) });
}

function titleCell(app) {
  return (row) => {
    const text = row.content?.title ? lineWords(row.content.text) : null;
    return [h('a', { href: addressOf('apps', app, 'pushes', row.id), title: row.id }, h('strong.push-title', bdi(pushTitle(app, row)))),
      text ? h('p', bdi(text)) : null, h('p.quiet', t(`push.kind.${row.kind}`))];
  };
}

/** Texts are hidden until somebody asks for them, which the audit keeps; who has asked once in this session need not again. */
let withContent = false;
whenSessionEnds(() => { withContent = false; });

export default async function open(page) {
  const { app, signal } = page;
  page.setTitle(t('nav.pushes'));
  const newPush = button({ label: t('pushes.new'), kind: 'primary', iconName: 'plus', href: addressOf('apps', app, 'pushes', 'new') });
  const list = pagedList(signal, async (cursor) => {
    const address = withContent ? path`/v1/apps/${app}/pushes/contents` : path`/v1/apps/${app}/pushes`;
    const answer = await api.get(address, { cursor }, { signal });
    return { items: answer.pushes, next: answer.next };
  }, (pushes) => table({
    caption: t('nav.pushes'),
    columns: [
      { label: t('pushes.push'), cell: titleCell(app) },
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
  reveal.hidden = withContent;
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
