// One device: what it allows, what a message to it would come to, and a push to try it out.

import { h, bdi } from './dom.js';
import { api, path, curlOf } from './api.js';
import { t, tx, number, clock, dateTime, hasText, list, timeElement } from './text.js';
import { addressOf } from './address.js';
import { pageHead, card, facts, chip, button, note, field, textInput, showRefusal, roleNote, confirmAction, idChip, codeBlock, curlBlock, disclosure, emptyState, loaded, toast } from './widgets.js';
import { deviceName, deviceWords, rememberDevices, systemWords } from './devices.js';
import { DEVICE_TYPES, leaseChip, authorizationChip, pushChip, silence } from './page-person.js';

const ANSWERS = { accepted: 'good', refused: 'bad', not_sent: 'bad', pushing: 'wait', unanswered: 'wait' };

function verdictWords(verdict) {
  if (verdict.result === 'send') return chip('good', t('verdict.send'));
  const key = `${verdict.result}.${verdict.reason}`;
  return chip(verdict.result === 'wait' ? 'wait' : 'quiet', t(`verdict.${verdict.result}`, { reason: hasText(key) ? t(key) : verdict.reason }));
}

function testsList(verdict) {
  return h('ul.tests', verdict.tests.map((test) => h('li',
    chip(test.passed ? 'good' : test.result === 'wait' ? 'wait' : 'bad', t(test.passed ? 'verdict.passed' : `verdict.test.${test.result}`)),
    h('span', hasText(`fact.${test.fact}`) ? t(`fact.${test.fact}`) : test.fact))));
}

/** Everything that the answer to a test push knows, the outcome first. */
function answerView(answer) {
  const passed = answer.verdict.result === 'send';
  return h('div.stack',
    note(ANSWERS[answer.answer.state] ?? 'info', h('p', h('strong', t(`answer.${answer.answer.state}`)), ' ', bdi(answer.answer.meaning ?? ''))),
    passed ? null : note('wait', h('p', t('test.butMessages'))),
    h('div.grid',
      h('div.stack', h('h3', t('test.verdict')), h('p', verdictWords(answer.verdict)), testsList(answer.verdict)),
      h('div.stack', h('h3', t('test.facts')), facts([
        [t('test.lease'), t(`lease.${answer.lease}`)],
        [t('device.token'), answer.token ? h('code', answer.token) : t('token.none')],
        [t('test.credential'), [t(`credential.state.${answer.credential.state}`), answer.credential.reason ? ` (${answer.credential.reason})` : '']],
        answer.lane ? [t('test.lane'), [t(`lane.${answer.lane.state}`), answer.lane.reason ? ` (${answer.lane.reason})` : '']] : null,
        answer.answer.apns_id ? [t('message.apnsId'), idChip(answer.answer.apns_id)] : null,
        answer.answer.unique_id ? [t('test.uniqueId'), idChip(answer.answer.unique_id)] : null,
        answer.answer.status ? [t('test.status'), `${answer.answer.status} ${answer.answer.reason ?? ''}`] : null,
      ]))),
    answer.request ? disclosure(t('test.request'), codeBlock(
      `${answer.request.method} ${answer.request.path}\n${Object.entries(answer.request.headers).map(([name, value]) => `${name}: ${value}`).join('\n')}\n\n${JSON.stringify(answer.request.payload, null, 2)}`, t('test.request'))) : null,
    h('h3', t('test.unknown')), h('ul.plain-list', answer.unknown.map((sentence) => h('li', sentence))));
}

function testCard(page, user, device) {
  const { app } = page;
  const address = path`/v1/apps/${app}/users/${user}/devices/${device}/test-push`;
  const title = textInput({ value: t('test.defaultTitle') });
  const text = textInput({ value: t('test.defaultText'), required: true });
  const fields = { title: field({ label: t('compose.title'), input: title, optional: true }), text: field({ label: t('compose.text'), input: text }) };
  const result = h('div', { 'aria-live': 'polite' });
  const submit = button({ label: t('test.send'), kind: 'primary', iconName: 'bell', type: 'submit', role: 'send' });
  return card({ title: t('test.title'), lead: t('test.lead') }, h('form.form', {
    novalidate: true,
    on: {
      submit: async (event) => {
        event.preventDefault();
        submit.setAttribute('aria-busy', 'true');
        try {
          result.replaceChildren(answerView(await api.post(address, { title: title.value || null, text: text.value })));
        } catch (problem) { showRefusal(result, problem, fields); } finally { submit.removeAttribute('aria-busy'); }
      },
    },
  }, fields.title, fields.text, h('div.form-row', submit)), roleNote('send'), result, curlBlock(curlOf('POST', address, { title: t('test.defaultTitle'), text: t('test.defaultText') })));
}

function statusFacts(status) {
  if (!status) return emptyState({ title: t('device.noStatus'), text: t('device.noStatusText') });
  const yes = (value) => (value ? chip('good', t('frame.on')) : chip('quiet', t('frame.off')));
  return facts([
    [t('message.authorization'), authorizationChip(status)],
    [t('status.alert'), yes(status.alert)], [t('status.sound'), yes(status.sound)], [t('status.badge'), yes(status.badge)],
    [t('status.lockScreen'), yes(status.lock_screen)], [t('status.list'), yes(status.notification_center)],
    [t('status.refresh'), t(`refresh.${status.background_refresh}`)],
    [t('status.lowPower'), status.low_power_mode ? t('frame.on') : t('frame.off')],
    [t('status.icon'), t(`icon.${status.icon_number}`)],
    [t('status.zone'), status.time_zone || '–'],
    [t('status.languages'), status.languages.length ? list(status.languages) : '–'],
    [t('status.app'), status.app_version || '–'], [t('status.system'), status.system_version || '–'],
    [t('status.model'), status.model || '–'],
    [t('status.at'), dateTime(status.at)],
  ], 'facts-tight');
}

function badgeWords(device) {
  if (device.badge !== null) return t('device.badgeTold', { n: number(device.badge) });
  return t(['foreground', 'background'].includes(device.lease) ? 'device.badgeByApp' : 'device.badgeUnknown');
}

/** Whether it is there, and the number on its icon as far as the server has a part in it. */
function connectionFacts({ app, signal }, user, device) {
  const unread = loaded(signal, () => api.get(path`/v1/apps/${app}/users/${user}/unread`, null, { signal }), (counts) => number(counts.unread), 1);
  return facts([
    [t('device.lease'), [leaseChip(device), device.lease_until ? ` ${t('device.until', { time: clock(device.lease_until) })}` : '']],
    [t('device.seen'), device.last_seen_at === null ? t('device.connectedNow') : [dateTime(device.last_seen_at), ' (', timeElement(device.last_seen_at), ')']],
    [t('device.connected'), dateTime(device.connected_at)],
    [t('device.badge'), badgeWords(device)],
    [t('device.badgeNext'), unread],
  ]);
}

function registrationFacts(device) {
  return facts([
    [t('device.platform'), systemWords(device)],
    [t('frame.id'), idChip(device.id)],
    device.status?.app_version ? [t('status.app'), device.status.app_version] : null,
    [t('device.token'), [pushChip(device), device.push_token ? [' ', idChip(device.push_token, { whole: true })] : null]],
    device.push_at ? [t(`device.pushAt.${device.push}`), dateTime(device.push_at)] : null,
    device.push_topic ? [t('device.topic'), h('code', device.push_topic)] : null,
    device.push_environment ? [t('device.environment'), t(`environment.${device.push_environment}`)] : null,
    device.push_reason ? [t('device.reason'), h('code', device.push_reason)] : null,
    [t('device.calls'), device.voip === 'registered' ? chip('good', t('device.callsRing')) : chip('quiet', t('device.callsDoNot'))],
  ]);
}

/** All that may change while somebody looks. */
function deviceView(page, user, device) {
  const why = silence(device);
  return [
    why ? note('wait', h('p', why)) : note('good', h('p', t('device.mayRing'))),
    h('div.grid.grid-wide',
      h('div.stack',
        card({ title: t('device.connection'), lead: t('device.connectionLead') }, connectionFacts(page, user, device)),
        card({ title: t('device.status'), lead: t('device.statusLead') }, statusFacts(device.status))),
      card({ title: t('device.registration') }, registrationFacts(device))),
  ];
}

export default async function open(page) {
  const { app, signal, params: { user, device: id } } = page;
  const crumbs = [[t('nav.people'), addressOf('apps', app, 'people')], [bdi(user), addressOf('apps', app, 'people', user)]];
  const loadDevice = async () => {
    const answer = await api.get(path`/v1/apps/${app}/users/${user}/devices`, { limit: 100 }, { signal });
    rememberDevices(app, user, answer.devices);
    return answer.devices.find((each) => each.id === id);
  };
  const device = await loadDevice();
  if (!device) {
    page.setTitle(t('title.device', { device: id }));
    page.root.append(pageHead({ title: bdi(id), crumbs }), emptyState({
      title: t('device.gone'), text: t('device.goneText'), action: button({ label: t('device.toPerson'), href: addressOf('apps', app, 'people', user) }),
    }));
    return;
  }
  page.setTitle(t('title.device', { device: deviceName(app, user, id) }));
  const chips = h('span.chips', leaseChip(device), pushChip(device));
  const view = h('div.stack', deviceView(page, user, device));
  page.root.append(
    pageHead({
      title: [h('span.off-screen', t('device.title')), deviceWords(app, user, id)], crumbs, lead: chips,
      actions: button({
        label: t('device.signOut'), kind: 'danger', role: 'administer',
        onClick: async () => {
          if (await confirmAction({ title: t('device.signOutTitle'), text: tx('device.signOutText', { user }), action: t('device.signOut'), act: () => api.delete(path`/v1/apps/${app}/users/${user}/devices/${id}`) })) {
            toast(t('frame.saved'));
            page.reload();
          }
        },
      }),
    }),
    view,
    testCard(page, user, id));
  page.live(DEVICE_TYPES, (events) => {
    if (!events.some((event) => event.data.user === user && event.data.device === id) || view.contains(document.activeElement)) return;
    // Signed out meanwhile, what was known of it stays to be read.
    loadDevice().then((found) => {
      if (!found) return;
      chips.replaceChildren(leaseChip(found), pushChip(found));
      view.replaceChildren(...deviceView(page, user, found));
    }, () => {});
  });
}
