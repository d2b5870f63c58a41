// How one push stands: its people, its ends, and what may still be done about it.

import { h, bdi, loadStyle } from './dom.js';
import { api, path, curlOf } from './api.js';
import { t, number, percent, dateTime, duration } from './text.js';
import { addressOf, go } from './address.js';
import { pageHead, card, facts, button, confirmAction, problemBox, idChip, field, textInput, showRefusal, curlBlock, roleNote, codeBlock, disclosure, toast, emptyState, loaded } from './widgets.js';
import { barList } from './charts.js';
import { endChip, endKind } from './legs.js';
import { pushStateChip, audienceWords, pushTitle } from './page-pushes.js';
import { notificationView, lineWords } from './notification.js';
import { draftAgain, sentFromHere } from './compose-draft.js';


function tile(key, value, remark) {
  return h('div.tile', h('span.tile-label', t(key)), h('span.tile-value', number(value)), h('span.tile-note', remark ?? ''));
}

function numbers(push) {
  const { progress, statistics } = push;
  const share = (part) => (progress.recipients ? percent(part / progress.recipients) : '');
  return h('div.tiles',
    tile('pushes.recipients', progress.recipients, t('push.lookedAt', { n: number(progress.looked_at) })),
    tile('pushes.accepted', statistics.accepted),
    tile('push.shown', statistics.shown, t('push.atLeast')),
    tile('pushes.opened', statistics.opened, share(statistics.opened)),
    tile('push.skipped', progress.skipped, t('push.skippedNote')));
}

function ends(push) {
  const found = Object.entries(push.statistics.ends).filter(([, count]) => count > 0).sort((a, b) => b[1] - a[1]);
  const total = found.reduce((sum, [, count]) => sum + count, 0);
  return found.length ? barList({
    caption: t('push.ends'), items: found.map(([end, count]) => ({ label: endChip(end), kind: endKind(end), value: count, note: percent(count / total) })),
  }) : emptyState({ title: t('push.noEnds'), text: t(push.state === 'scheduled' ? 'push.noEndsScheduled' : 'push.noEndsText') });
}

function about(push) {
  return facts([
    [t('frame.id'), idChip(push.id)],
    [t('pushes.audience'), bdi(audienceWords(push.audience))],
    [t('push.account'), `${t(`kind.${push.account.kind}`)} ${push.account.id}`],
    [t('message.kind'), t(`push.kind.${push.kind}`)],
    [t('push.created'), dateTime(push.created_at)],
    [t('push.changed'), dateTime(push.changed_at)],
    [t('push.sendAt'), push.send_at ? dateTime(push.send_at) : null],
    [t('push.local'), push.send_at_local ? `${push.send_at_local} (${push.time_zone})` : null],
    [t('push.rate'), push.rate_per_second ? t('push.rateValue', { n: number(push.rate_per_second) }) : t('push.noRate')],
    [t('push.lifetime'), push.lifetime_ms ? duration(push.lifetime_ms) : null],
    [t('push.conversation'), push.conversation ? t('frame.yes') : t('frame.no')],
    [t('push.counted'), push.counted ? t('frame.yes') : t('frame.no')],
    [t('push.repeated'), push.statistics.repeated ? number(push.statistics.repeated) : null],
    [t('push.recalled'), push.statistics.recalled ? number(push.statistics.recalled) : null],
  ]);
}

function actionsFor(page, push, reload) {
  const address = path`/v1/apps/${page.app}/pushes/${push.id}`;
  const ask = (what, role, act) => button({
    label: t(`push.${what}`), kind: 'danger', role,
    onClick: async () => {
      if (await confirmAction({ title: t(`push.${what}Title`), text: t(`push.${what}Text`), action: t(`push.${what}`), act })) {
        toast(t(`push.${what}Done`));
        reload();
      }
    },
  });
  return [
    ['scheduled', 'running'].includes(push.state) ? ask('cancel', 'send', () => api.post(`${address}/cancel`, {})) : null,
    push.kind === 'message' && !['recalling', 'recalled', 'scheduled'].includes(push.state) ? ask('recall', 'send', () => api.delete(address)) : null,
  ];
}

/** So many pages of the list are looked through for what a push says: it is told in the list alone. */
const PAGES = 5;
/** The list tells so much of a text. */
const TEXT_TOLD = 256;

/** Looks up what a push says; null where it is too old to be found. The audit keeps who has asked. */
async function findContent(app, id, signal) {
  let cursor = null;
  for (let turn = 0; turn < PAGES; turn += 1) {
    const answer = await api.get(path`/v1/apps/${app}/pushes/contents`, { limit: 100, cursor }, { signal });
    const found = answer.pushes.find((each) => each.id === id);
    if (found) return found.content;
    cursor = answer.next;
    if (!cursor) break;
  }
  return null;
}

function contentView(app, content) {
  if (!content?.title && !content?.text) return h('p.quiet', t('pushes.noText'));
  return h('div.wallpaper.review', notificationView(app, { title: lineWords(content.title), subtitle: content.subtitle, text: lineWords(content.text) }, true));
}

/** Shows what the push says: at once if it was sent from here, else on request. */
function contentCard(page, push) {
  const { app, signal } = page;
  const own = sentFromHere(app, push.id)?.notification;
  const box = h('div.stack', own ? contentView(app, own) : [
    h('p.quiet', t('message.contentLead')),
    h('div.actions', button({ label: t('message.showContent'), iconName: 'eye', role: 'content', onClick: () => box.replaceChildren(loaded(signal, () => findContent(app, push.id, signal), (content) => contentView(app, content))) })),
  ]);
  return card({ title: t('message.content') }, box);
}

/** Opens the composer with the same text and audience. What was not sent from here is told only as far as the list tells it. */
function againButton(page, push) {
  const { app, signal } = page;
  const own = sentFromHere(app, push.id);
  return button({
    label: t('push.again'), iconName: 'compose', role: own ? 'send' : 'content',
    onClick: async () => {
      let body = own;
      if (!body) {
        const content = await findContent(app, push.id, signal);
        const [title, text] = [content?.title, content?.text].map((line) => (typeof line === 'string' ? line : ''));
        if (!text || [...text].length >= TEXT_TOLD) toast(t('push.againShort'), 'wait');
        body = { ...(push.kind === 'custom' ? { custom: { title, content: text } } : { notification: { title, text, sound: 'default' } }), audience: push.audience, rate_per_second: push.rate_per_second, lifetime_ms: push.lifetime_ms, conversation: push.conversation, counted: push.counted };
      }
      go(addressOf('apps', app, 'pushes', 'new', { what: draftAgain(app, body) }));
    },
  });
}

/** The message that the push has sent to one person. */
function recipientForm(page, push) {
  const { app } = page;
  const input = textInput({ required: true, name: 'recipient' });
  const entry = field({ label: t('messages.person'), input });
  const refusal = h('div', { 'aria-live': 'polite' });
  return h('form.stack', {
    novalidate: true,
    on: {
      submit: async (event) => {
        event.preventDefault();
        entry.fail(input.value.trim() ? '' : t('messages.personMissing'));
        if (!input.value.trim()) return;
        try {
          const answer = await api.get(path`/v1/apps/${app}/pushes/${push.id}/recipients/${input.value.trim()}`);
          go(addressOf('apps', app, 'messages', answer.message_id));
        } catch (problem) { showRefusal(refusal, problem, { user: entry }); }
      },
    },
  }, h('div.form-row', entry, button({ label: t('push.toMessage'), type: 'submit' })), refusal);
}

export default async function open(page) {
  const { app, signal, params: { push: id } } = page;
  page.setTitle(t('title.push', { id }));
  const address = path`/v1/apps/${app}/pushes/${id}`;
  const state = h('span.chips', { 'aria-live': 'polite' });
  const actions = h('div.actions');
  const boxes = { numbers: h('div'), ends: h('div'), about: h('div'), bar: h('div') };
  let [push] = await Promise.all([api.get(address, null, { signal }), loadStyle('compose.css')]);
  const show = () => {
    state.replaceChildren(pushStateChip(push));
    boxes.numbers.replaceChildren(numbers(push));
    boxes.ends.replaceChildren(ends(push));
    boxes.about.replaceChildren(about(push));
    if (!actions.contains(document.activeElement)) actions.replaceChildren(againButton(page, push), ...actionsFor(page, push, load).filter(Boolean));
  };
  const load = async () => {
    try { push = await api.get(address, null, { signal }); show(); } catch (problem) {
      if (problem.name !== 'AbortError' && problem.status === 404) boxes.ends.replaceChildren(problemBox(problem));
    }
  };
  page.root.append(
    pageHead({ title: [h('span.off-screen', t('pushes.push')), bdi(pushTitle(app, push))], crumbs: [[t('nav.pushes'), addressOf('apps', app, 'pushes')]], lead: state, actions }),
    ...[roleNote('send')].filter(Boolean),
    boxes.numbers,
    h('div.grid.grid-wide',
      h('div.stack', card({ title: t('push.ends'), lead: t('push.endsLead') }, boxes.ends), card({ title: t('push.onePerson'), lead: t('push.onePersonLead') }, recipientForm(page, push))),
      h('div.stack', contentCard(page, push), card({ title: t('message.about') }, boxes.about))),
    disclosure(t('push.audienceJSON'), codeBlock(JSON.stringify(push.audience, null, 2), t('push.audienceJSON'))),
    curlBlock(curlOf('GET', address)));
  show();
  // Its ends go on coming after it is done, while phones tell what they have shown.
  const timer = setInterval(() => { if (!document.hidden) load(); }, 5_000);
  page.onLeave(() => clearInterval(timer));
  page.live(['push_job'], (events) => { if (events.some((event) => event.data.push === id)) load(); });
}
