// What the system itself shows: questions, the panels of old versions, calls, and Live Activities.

import { t } from './text.js';
import { v } from './phone-patch.js';
import { drawSign } from './phone-icons.js';
import { nameApp, readNotice } from './phone-notices.js';

/** An alert panel, as iOS 3 to 9 had them. */
export function drawPanel(link, notice) {
  const { title, subtitle, body } = readNotice(notice);
  return drawQuestion('panel', title || nameApp(notice.app), [subtitle, body].filter(Boolean).join('\n'), [
    [t('phones.do.close'), () => link.send({ do: 'alert_panel', open: false })],
      [t('phones.do.view'), () => link.send({ do: 'alert_panel', open: true })]]);
}

/** A question that must be answered first; `answers` are pairs of words and what follows. */
export function drawQuestion(key, title, text, answers) {
  return v('div.phone-box.is-alert.is-system', { key: `system-${key}`, role: 'group', 'aria-label': title, 'data-takes-focus': true },
    v('div.phone-box-card',
    v('p.phone-box-title', v('bdi', title)), text ? v('p.phone-box-text', v('bdi', text)) : null,
    v('div.phone-box-buttons.is-pair',
      answers.map(([words, answer]) => v('button.phone-box-button', { type: 'button', on: { click: answer } }, words)))));
}

/** A call that rings, or goes on. */
export function drawCall(link, call) {
  return v('div.phone-call', { key: `call-${call.call}`, role: 'group', 'aria-label': t('phones.system.call', { name: call.caller }),
    'data-takes-focus': true },
    v('p.phone-call-name', v('bdi', call.caller)), v('p',
      t(call.answered ? 'phones.system.callAnswered' : call.video ? 'phones.system.videoCall' : 'phones.system.callRings')),
    v('div.phone-call-buttons',
      v('button.is-decline', { type: 'button', on: { click: () => link.send({ do: 'decline_call' }) } }, drawSign('call'),
        v('span', t(call.answered ? 'phones.do.hangUp' : 'phones.do.decline'))),
      call.answered ? null : v('button.is-answer', { type: 'button', on: { click: () => link.send({ do: 'answer_call' }) } }, drawSign('call'),
        v('span', t('phones.do.answer')))));
}

/** A Live Activity on the lock screen. */
export function drawActivity(link, activity) {
  const state = activity.content_state && typeof activity.content_state === 'object' ? Object.entries(activity.content_state)
    : [['', activity.content_state]];
  return v('div.phone-activity', { key: `activity-${activity.activity}`, role: 'group',
    'aria-label': t('phones.system.activity', { app: nameApp(activity.app) }) },
    v('b', nameApp(activity.app)),
      state.map(([name, value]) => v('p', v('bdi', `${name ? `${name}: ` : ''}${typeof value === 'object' ? JSON.stringify(value) : value}`))),
    v('button.phone-tool', { type: 'button', 'aria-label': t('phones.system.dismissActivity'),
      on: { click: () => link.send({ do: 'dismiss_activity', app: activity.app, activity: activity.activity }) } }, drawSign('close')));
}
