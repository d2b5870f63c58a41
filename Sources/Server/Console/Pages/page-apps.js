// The server's apps.

import { h, bdi } from './dom.js';
import { api, wrongField } from './api.js';
import { t, number, date, bytes, duration, timeElement } from './text.js';
import { addressOf, go } from './address.js';
import { pageHead, card, table, button, chip, emptyState, field, textInput, formDialog, showSecret, roleNote, facts, problemBox, skeleton, codeBlock } from './widgets.js';
import { may } from './session.js';

/** Makes an app, and tells its token secret, which is told this once. */
async function makeApp(page) {
  const id = textInput({ required: true, name: 'id' });
  const name = textInput({ name: 'name' });
  const topics = textInput({ name: 'topics', placeholder: 'com.example.chat' });
  const fields = {
    id: field({ label: t('apps.id'), hint: t('apps.idHint'), input: id, wide: true }),
    name: field({ label: t('apps.name'), input: name, wide: true, optional: true }),
    topics: field({ label: t('credentials.topics'), hint: t('apps.topicsHint'), input: topics, wide: true, optional: true }),
  };
  const made = await formDialog({
    title: t('apps.make'), action: t('apps.make'), fields,
    send: () => {
      if (!id.value.trim()) throw wrongField('id', t('apps.idMissing'));
      const settings = { name: name.value.trim() || null };
      const list = topics.value.split(/[,，\s]+/).filter(Boolean);
      if (list.length) settings.push = { topics: list };
      return api.post('/v1/apps', { id: id.value.trim(), settings });
    },
  });
  if (!made) return;
  await showSecret({ title: t('apps.secretTitle', { app: made.app.id }), text: t('apps.secretText'), secret: made.token_secret.secret });
  await page.reloadApps();
  go(addressOf('apps', made.app.id, 'settings', { tab: 'keys' }));
}

function backupFacts({ running, last, last_good: good }) {
  return facts([
    [t('backup.state'), running ? chip('info', t('backup.running')) : chip(!good ? 'wait' : last.error ? 'bad' : 'good', t(!good ? 'backup.never' : last.error ? 'backup.failed' : 'backup.good')), running || good ? '' : 'fact-wide'],
    running ? [t('backup.since'), timeElement(running.started_at)] : null,
    good ? [t('backup.last'), [timeElement(good.ended_at), ', ', bytes(good.bytes ?? 0)]] : null,
    good ? [t('backup.path'), h('code', bdi(good.path)), 'fact-wide'] : null,
    last?.error ? [t('backup.error'), bdi(last.error)] : null,
  ]);
}

/** What the process is, and whether its data has a copy elsewhere: for those who administer the server. */
function serverCard(page) {
  const box = h('div.stack', skeleton(4));
  const load = async () => {
    try {
      const server = await api.get('/v1/server', null, { signal: page.signal });
      box.replaceChildren(facts([
        [t('server.version'), bdi(server.version || '–')],
        [t('server.uptime'), duration(server.uptime_ms)],
        [t('server.schema'), number(server.schema)],
        server.storage.database_bytes === null ? null : [t('server.database'), bytes(server.storage.database_bytes)],
        server.storage.free_bytes === null ? null : [t('server.disk'), [bytes(server.storage.free_bytes), server.storage.state === 'full' ? [' ', chip('bad', t('server.full'))] : '']],
      ]), h('h3', t('backup.title')), backupFacts(server.backup), h('p.quiet', t('backup.how')), codeBlock('tidings store backup --config tidings.yaml --to tidings-backup.sqlite', t('backup.title')));
    } catch (problem) {
      if (problem.name !== 'AbortError') box.replaceChildren(problemBox(problem, load));
    }
  };
  load();
  return card({ title: t('nav.server') }, box);
}

export default async function open(page) {
  page.setTitle(t('nav.apps'));
  await page.reloadApps();
  page.root.append(
    pageHead({ title: t('nav.apps'), lead: t('apps.lead'), actions: button({ label: t('apps.make'), kind: 'primary', iconName: 'plus', role: 'administer', onClick: () => makeApp(page) }) }),
    ...[roleNote('administer')].filter(Boolean),
    card({ title: t('apps.all') }, table({
      caption: t('apps.all'),
      columns: [
        { label: t('frame.app'), cell: (row) => [h('a', { href: addressOf('apps', row.id) }, bdi(row.settings?.name || row.id)), row.settings?.name ? [' ', h('code.quiet', bdi(row.id))] : ''] },
        { label: t('frame.state'), cell: (row) => (row.suspended ? chip('bad', t('app.suspended')) : chip('good', t('apps.open'))) },
        { label: t('credentials.topics'), cell: (row) => bdi(row.settings?.push?.topics?.join(', ') || '–') },
        { label: t('apps.keys'), className: 'num', cell: (row) => number(row.api_keys.length) },
        { label: t('push.created'), cell: (row) => date(row.created_at) },
        { label: t('apps.origin'), cell: (row) => t(row.imported ? 'apps.imported' : 'apps.made') },
      ],
      rows: page.apps(),
      empty: emptyState({ title: t('apps.none'), text: t('apps.noneText') }),
    })),
    ...(may('administer') ? [serverCard(page)] : []));
}
