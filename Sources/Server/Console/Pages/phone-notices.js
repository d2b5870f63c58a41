// Notifications as a person sees them: banners, the list in stacks, and one shown large with its buttons.

import { currentLanguage, t, tn } from './text.js';
import { v } from './phone-patch.js';
import { drawSign } from './phone-icons.js';
import { takeGestures, wasGesture } from './phone-gestures.js';

/** What follows the last dot of a bundle identifier, with a capital. */
export function nameApp(bundle) {
  const last = String(bundle ?? '').split('.').at(-1);
  return last ? last[0].toUpperCase() + last.slice(1) : '';
}

/** What the person sees: while previews are hidden other words stand for the text. */
export function readNotice(notice) {
  const shown = notice.shown ?? notice;
  return { title: shown.title || '', subtitle: shown.subtitle || '', body: shown.body || '' };
}

/** A notification in one sentence. */
export function sayNotice(notice) {
  const { title, subtitle, body } = readNotice(notice);
  return [nameApp(notice.app), title, subtitle, body].filter(Boolean).join(', ');
}

/** Stacks of one app and thread, the one with the newest entry first. Before iOS 12 each stands alone. */
export function groupNotices(list, isGrouped) {
  const groups = new Map();
  for (const notice of list) {
    const key = isGrouped ? JSON.stringify([notice.app, notice.thread]) : notice.notification;
    if (groups.has(key)) groups.get(key).push(notice);
    else groups.set(key, [notice]);
  }
  return [...groups].map(([key, notices]) => ({ key, notices }));
}

/** How long ago, as the list says it. */
export function sayAge(ms) {
  const minutes = Math.floor((Date.now() - ms) / 60_000);
  if (minutes < 1) return t('phones.notice.now');
  const relative = new Intl.RelativeTimeFormat(currentLanguage(), { style: 'narrow' });
  return minutes < 60 ? relative.format(-minutes, 'minute') : minutes < 1_440 ? relative.format(-Math.floor(minutes / 60), 'hour')
    : relative.format(-Math.floor(minutes / 1_440), 'day');
}

/** An app's icon: no picture of it is known to the phone, so it has a drawn one. */
export function drawIcon(key) {
  return v('span.phone-icon', { key, 'aria-hidden': 'true' }, drawSign('message'));
}

function drawTexts(notice) {
  const { title, subtitle, body } = readNotice(notice);
  return v('div.phone-notice-texts', { 'aria-hidden': 'true' },
    v('div.phone-notice-head', v('b', v('bdi', title || nameApp(notice.app))), v('span.phone-notice-age', sayAge(notice.date))),
    subtitle ? v('div.phone-notice-subtitle', v('bdi', subtitle)) : null,
    body ? v('div.phone-notice-body', v('bdi', body)) : null,
    notice.attachments?.length ? v('span.phone-photo.is-small', drawSign('photo'), t('phones.screen.image')) : null);
}

/** One entry. `act` has `tap`, `dismiss` and `expand`. */
export function drawNotice(notice, act, { below = 0 } = {}) {
  const label = sayNotice(notice);
  return v('li.phone-notice', {
    key: notice.notification, class: below ? 'is-stack' : '', 'data-gesture': true,
    on: {
      ...takeGestures({ left: () => act.dismiss(notice), right: () => act.tap(notice), hold: () => act.expand(notice) }),
      keydown: (event) => {
        if (event.key !== 'Delete' && event.key !== 'Backspace') return;
        event.preventDefault();
        act.dismiss(notice);
      },
    },
  },
  v('button.phone-hit', { key: 'hit', type: 'button', 'aria-label': label,
    on: { click: (event) => { if (!wasGesture(event.currentTarget)) act.tap(notice); } } }),
  drawIcon('icon'), drawTexts(notice),
  v('div.phone-notice-tools', { key: 'tools' },
    v('button.phone-tool', { type: 'button', 'aria-label': t('phones.notice.expand', { name: label }), title: t('phones.notice.expandShort'),
      on: { click: () => act.expand(notice) } }, drawSign('more')),
    v('button.phone-tool', { type: 'button', 'aria-label': t('phones.notice.dismiss', { name: label }), title: t('phones.notice.dismissShort'),
      on: { click: () => act.dismiss(notice) } }, drawSign('close'))));
}

/** The list in stacks; `isOpen(key)` tells which of them are spread out. */
export function drawList(list, act, { isGrouped, isOpen, toggle }) {
  return v('ul.phone-notices', { key: 'list', 'aria-label': t('phones.notice.list') },
    groupNotices(list, isGrouped).flatMap(({ key, notices }) => {
    const others = notices.length - 1;
    if (!others) return [drawNotice(notices[0], act)];
    const isSpread = isOpen(key);
    const more = v('li.phone-notice-more', { key: `more-${key}` }, v('button', {
      type: 'button', 'aria-expanded': String(isSpread), on: { click: () => toggle(key) },
    }, isSpread ? t('phones.notice.less') : tn('phones.notice.others', others)));
    return isSpread ? [...notices.map((notice) => drawNotice(notice, act)), more] : [drawNotice(notices[0], act, { below: others }), more];
  }));
}

/** A banner, which a swipe upwards takes away and a pull shows large. */
export function drawBanner(notice, act, isLeaving) {
  const label = t('phones.notice.banner', { name: sayNotice(notice) });
  return v('div.phone-banner', {
    key: notice.notification, class: isLeaving ? 'is-leaving' : '', 'data-gesture': true,
    on: takeGestures({ up: () => act.swipeAway(notice), down: () => act.expand(notice), hold: () => act.expand(notice) }),
  },
  v('button.phone-hit', { key: 'hit', type: 'button', disabled: isLeaving, 'aria-label': label,
    on: { click: (event) => { if (!wasGesture(event.currentTarget)) act.tap(notice); } } }),
  drawIcon('icon'), drawTexts(notice),
  v('div.phone-notice-tools', { key: 'tools' },
    v('button.phone-tool', { type: 'button', disabled: isLeaving, 'aria-label': t('phones.notice.expand', { name: sayNotice(notice) }),
      title: t('phones.notice.expandShort'), on: { click: () => act.expand(notice) } }, drawSign('more')),
    v('button.phone-tool', { type: 'button', disabled: isLeaving, 'aria-label': t('phones.notice.swipeAway', { name: sayNotice(notice) }),
      title: t('phones.notice.swipeAwayShort'), on: { click: () => act.swipeAway(notice) } }, drawSign('up'))));
}

/** What a content extension reports of what it shows. */
function readReport(screen) {
  if (screen === null || screen === undefined) return [];
  if (typeof screen !== 'object') return [String(screen)];
  return (Array.isArray(screen) ? screen
    : Object.entries(screen).map(([name, value]) => `${name}: ${typeof value === 'object' ? JSON.stringify(value) : value}`)).map(String);
}

/** A notification shown large: its whole text, what the app's content extension reports, and its buttons. */
export function drawLongLook(notice, expanded, act) {
  const { title, subtitle, body } = readNotice(notice);
  const report = expanded?.notification === notice.notification ? readReport(expanded.screen) : [];
  const answer = (form, action) => {
    const text = form.querySelector('input').value;
    if (text.trim()) act.answer(notice, action.action, text);
  };
  return v('div.phone-long', {
    key: `long-${notice.notification}`, role: 'group', 'aria-label': t('phones.notice.large', { name: sayNotice(notice) }),
      'data-takes-focus': true,
  },
  v('div.phone-long-card',
    v('div.phone-notice-head', drawIcon('icon'), v('b', nameApp(notice.app)), v('span.phone-notice-age', sayAge(notice.date)),
      v('button.phone-tool', { type: 'button', 'aria-label': t('phones.notice.collapse'), on: { click: () => act.collapse() } },
        drawSign('close'))),
    title ? v('p.phone-long-title', v('bdi', title)) : null, subtitle ? v('p', v('bdi', subtitle)) : null, body ? v('p', v('bdi', body)) : null,
    report.length ? v('div.phone-long-report', { 'aria-label': t('phones.notice.report'), role: 'group' },
      report.map((line) => v('p', v('bdi', line)))) : null),
  v('div.phone-long-actions',
    v('button', { type: 'button', on: { click: () => act.tap(notice) } }, t('phones.notice.open')),
    (notice.actions ?? []).map((action) => action.text
      ? v('form', { key: action.action, on: { submit: (event) => { event.preventDefault(); answer(event.currentTarget, action); } } },
        v('input.phone-field', { type: 'text', autocomplete: 'off', 'aria-label': action.title, placeholder: action.title,
          on: { input: (event) => { event.currentTarget.nextElementSibling.disabled = !event.currentTarget.value.trim(); } } }),
        // As on an iPhone there is nothing to send before something is typed.
        v('button', { type: 'submit', disabled: true }, v('bdi', action.title)))
      : v('button', { key: action.action, type: 'button', on: { click: () => act.answer(notice, action.action) } }, v('bdi', action.title))),
    v('button', { type: 'button', on: { click: () => act.openSettings(notice) } }, t('phones.notice.settings')),
    v('button', { type: 'button', on: { click: () => act.dismiss(notice) } }, t('phones.notice.clear'))));
}
