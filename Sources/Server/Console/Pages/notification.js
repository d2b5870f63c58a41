// A notification as a phone shows it: what the composer, the review and a push's page draw.

import { h, bdi } from './dom.js';
import { t } from './text.js';

/** Returns a line that the server told: a text, or a key that the phone looks up. */
export function lineWords(line) {
  return typeof line === 'object' && line ? [line.loc_key, ...(line.loc_args ?? [])].join(' ') : line;
}

/** Draws a notification as a banner, or as an entry of the list. */
export function notificationView(app, { title, subtitle, text }, isBanner) {
  return h('div.alert', { class: isBanner ? '' : 'alert-list' },
    h('span.alert-icon', { 'aria-hidden': 'true' }, (app[0] ?? '?').toUpperCase()),
    h('div.alert-words',
      h('div.alert-head', h('strong', title ? bdi(title) : bdi(app)), h('span', t('compose.now'))),
      subtitle ? h('div.alert-subtitle', bdi(subtitle)) : null,
      h('div.alert-text', text ? bdi(text) : h('span.quiet-on-glass', t('compose.textHere')))));
}
