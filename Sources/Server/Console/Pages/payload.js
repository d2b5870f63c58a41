// What APNs would get, as the server would make it while something is written.

import { h } from './dom.js';
import { api, path } from './api.js';
import { t, number, bytes } from './text.js';
import { disclosure, codeBlock, note, problemBox } from './widgets.js';
import { may } from './session.js';

/** Long enough that a word is not asked for letter by letter, in milliseconds. */
const PAUSE = 300;

/** The payload with its bytes against Apple's limit, and the headers it goes with. */
function payloadView({ payload, bytes: used, bytes_max: most, shortened, headers }) {
  return h('div.stack',
    h('ul.budget', h('li',
      h('span', t('compose.whole')),
      h('span.bar', { 'aria-hidden': 'true' }, h('span.bar-fill.bar-good', { vars: { '--share': `${Math.min(100, (used / most) * 100)}%` } })),
      h('span.num', t('compose.of', { used: number(used), most: number(most) })), h('span.quiet', t('compose.rest', { rest: number(most - used) })))),
    shortened.length ? note('wait', h('p', t('compose.shortened', { what: shortened.map((each) => t(`compose.gaveWay.${each}`)).join(', ') }))) : null,
    disclosure(t('compose.payloadNext', { size: bytes(used), most: bytes(most) }), codeBlock(JSON.stringify(payload, null, 2), t('test.request')),
      codeBlock(Object.entries(headers).map((header) => header.join(': ')).join('\n'), t('compose.headers')), h('p.quiet', t('compose.payloadNote'))));
}

/**
 * The payload of what is being written. `makeBody` gives what is asked of `pushes/preview`, null where there is too little to show; what it
 * throws is told beside its field. `element.ask()` asks anew, after a pause; `told` is given each answer.
 */
export function payloadPreview(page, makeBody, told = () => {}) {
  const element = h('div', { 'aria-live': 'polite' });
  let timer = null;
  let turn = 0;
  page.onLeave(() => clearTimeout(timer));
  const show = (content) => {
    const isOpen = element.querySelector('details')?.open ?? false;
    element.replaceChildren(content);
    const details = element.querySelector('details');
    if (details) details.open = isOpen;
  };
  element.ask = () => {
    clearTimeout(timer);
    const mine = ++turn;
    let body = null;
    try { body = makeBody(); } catch { /* What cannot be read is told beside its field. */ }
    if (!body || !may('send')) {
      element.replaceChildren();
      return;
    }
    timer = setTimeout(async () => {
      try {
        const answer = await api.post(path`/v1/apps/${page.app}/pushes/preview`, body, { signal: page.signal });
        if (mine !== turn) return;
        told(answer);
        show(payloadView(answer));
      } catch (problem) {
        if (mine === turn && problem.name !== 'AbortError') show(problemBox(problem));
      }
    }, PAUSE);
  };
  return element;
}
