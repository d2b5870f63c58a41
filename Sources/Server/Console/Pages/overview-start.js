// Four steps of a new app to its first push, ticked as they are done.

import { h, icon } from './dom.js';
import { api, path } from './api.js';
import { t } from './text.js';
import { addressOf } from './address.js';
import { card, button, chip } from './widgets.js';

/** The most people whose devices are asked for, to find one that can be pushed to. */
const PEOPLE = 5;

async function hasPhone(app, signal) {
  const { users } = await api.get(path`/v1/apps/${app}/users`, { limit: 100 }, { signal });
  for (const user of users.filter((each) => each.devices).slice(0, PEOPLE)) {
    const { devices } = await api.get(path`/v1/apps/${app}/users/${user.id}/devices`, { limit: 100 }, { signal });
    if (devices.some((device) => device.push === 'registered')) return true;
  }
  return false;
}

/** Returns which steps are done: `[{key, isDone, href}]`. */
async function findSteps(app, signal) {
  const [told, { push_credentials: credentials }, isPhone] = await Promise.all([
    api.get(path`/v1/apps/${app}`, null, { signal }), api.get(path`/v1/apps/${app}/push-credentials`, null, { signal }), hasPhone(app, signal),
  ]);
  const info = told.app ?? told;
  const active = credentials.filter((credential) => credential.state === 'active');
  return [
    { key: 'topic', isDone: Boolean(info.settings?.push?.topics?.length || active.some((credential) => credential.topics.length)), href: addressOf('apps', app, 'settings', { tab: 'push' }) },
    { key: 'credential', isDone: active.length > 0, href: addressOf('apps', app, 'credentials') },
    { key: 'key', isDone: Boolean(info.api_keys?.length), href: addressOf('apps', app, 'settings', { tab: 'keys' }) },
    { key: 'phone', isDone: isPhone, href: addressOf('apps', app, 'people') },
  ];
}

function stepRow({ key, isDone, href }) {
  return h('li.start-step', { class: isDone ? 'start-done' : '' },
    h('span.start-mark', { 'aria-hidden': 'true' }, isDone ? icon('check') : ''),
    h('div', h('p', h('a', { href }, t(`start.${key}`)), isDone ? [' ', chip('good', t('start.done'))] : null), h('p.quiet', t(`start.${key}.text`))));
}

/** A card with the steps; empty for an app that has sent something, or has nothing left to do. `check()` looks again, resolves with whether there is more to look for. */
export function startSteps(app, signal) {
  const element = h('div');
  let shown = '';
  const check = async () => {
    const [statistics, { legs }] = await Promise.all([
      api.get(path`/v1/apps/${app}/statistics`, null, { signal }), api.get(path`/v1/apps/${app}/legs`, { limit: 1 }, { signal }),
    ]);
    // The counts begin anew with the server; what was delivered stays.
    if (legs.length || statistics.messages.accepted || statistics.pushes.accepted) {
      element.replaceChildren();
      return false;
    }
    const steps = await findSteps(app, signal);
    const words = steps.map((step) => step.isDone).join();
    if (words === shown || element.contains(document.activeElement)) return true;
    shown = words;
    const isReady = steps.every((step) => step.isDone);
    element.replaceChildren(card({
      title: t('start.title'), lead: t(isReady ? 'start.ready' : 'start.lead'),
      actions: isReady ? button({ label: t('start.push'), kind: 'primary', href: addressOf('apps', app, 'pushes', 'new') }) : null,
    }, h('ol.start-steps', steps.map(stepRow))));
    return true;
  };
  return { element, check };
}
