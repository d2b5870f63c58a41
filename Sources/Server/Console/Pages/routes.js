// Every place of the console. `nav` names the entry of the navigation that is marked there.

import { usePageWords } from './text.js';

/** A page comes with its words; those of the overview are there already. */
const place = (address, nav, load) => ({
  parts: address.split('/').filter((part) => part !== ''), nav,
  load: nav === 'overview' ? load : async () => (await Promise.all([load(), usePageWords()]))[0],
});

export const routes = [
  place('apps', 'apps', () => import('./page-apps.js')),
  place('phones', 'phones', () => import('./page-phones.js')),
  place('phones/reference', 'phones', () => import('./page-reference.js')),
  place('phones/reference/:section', 'phones', () => import('./page-reference.js')),
  place('operators', 'operators', () => import('./page-operators.js')),
  place('audit', 'audit', () => import('./page-audit.js')),
  place('api', 'api', () => import('./page-api.js')),
  place('api/:name', 'api', () => import('./page-api.js')),
  place('apps/:app', 'overview', () => import('./page-overview.js')),
  place('apps/:app/messages', 'messages', () => import('./page-messages.js')),
  place('apps/:app/messages/:id', 'messages', () => import('./page-message.js')),
  place('apps/:app/people', 'people', () => import('./page-people.js')),
  place('apps/:app/people/:user', 'people', () => import('./page-person.js')),
  place('apps/:app/people/:user/devices/:device', 'people', () => import('./page-device.js')),
  place('apps/:app/conversations', 'conversations', () => import('./page-conversations.js')),
  place('apps/:app/conversations/:type/:id', 'conversations', () => import('./page-conversation.js')),
  place('apps/:app/pushes', 'pushes', () => import('./page-pushes.js')),
  place('apps/:app/pushes/new', 'pushes', () => import('./page-compose.js')),
  place('apps/:app/pushes/:push', 'pushes', () => import('./page-push.js')),
  place('apps/:app/credentials', 'credentials', () => import('./page-credentials.js')),
  place('apps/:app/webhooks', 'webhooks', () => import('./page-webhooks.js')),
  place('apps/:app/webhooks/:webhook', 'webhooks', () => import('./page-webhooks.js')),
  place('apps/:app/settings', 'settings', () => import('./page-settings.js')),
  place('apps/:app/audit', 'appAudit', () => import('./page-audit.js')),
];

/** The navigation: what belongs to one app, and what to the server. */
export const navigation = {
  app: [
    { key: 'overview', icon: 'overview', parts: [] },
    { key: 'messages', icon: 'messages', parts: ['messages'] },
    { key: 'people', icon: 'people', parts: ['people'] },
    { key: 'conversations', icon: 'conversations', parts: ['conversations'] },
    { key: 'pushes', icon: 'bell', parts: ['pushes'] },
    { key: 'credentials', icon: 'credentials', parts: ['credentials'] },
    { key: 'webhooks', icon: 'webhooks', parts: ['webhooks'] },
    { key: 'settings', icon: 'settings', parts: ['settings'] },
    { key: 'appAudit', icon: 'audit', parts: ['audit'] },
  ],
  server: [
    { key: 'apps', icon: 'apps', parts: ['apps'] },
    { key: 'phones', icon: 'phones', parts: ['phones'] },
    { key: 'operators', icon: 'operators', parts: ['operators'] },
    { key: 'audit', icon: 'audit', parts: ['audit'] },
    { key: 'api', icon: 'api', parts: ['api'] },
  ],
};
