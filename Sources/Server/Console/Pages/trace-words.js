// Which words and which line of the reference belong to a line of a phone's trace.

import { hasText, t } from './text.js';

/** What a line of the trace is about; a person chooses what to see by these. */
export const KINDS = ['call', 'notice', 'push', 'process', 'screen', 'fault'];

const KIND_OF = {
  callback: 'call', completion: 'call',
  presentation: 'notice', badge: 'notice', system_sound: 'notice', content_extension: 'notice', incoming_call: 'notice', activity: 'notice',
  push: 'push', arrival: 'push', wake: 'push', refused: 'push', token: 'push', courier: 'push', background_fetch: 'push', refresh_task: 'push',
  state: 'process', process_started: 'process', process_ended: 'process', process_spawned: 'process', process_stopped: 'process',
  process_resumed: 'process', process_died: 'process',
  screen: 'screen', log: 'screen',
  fault: 'fault',
};

export function kindOf(event) {
  return KIND_OF[event.event] ?? 'screen';
}

// Where docs/testing/ios-delivery.md tells of a call, by the name the phone gives it.
const SECTION_OF_CALL = {
  willFinishLaunching: '2.2', didFinishLaunching: '2.2', applicationWillEnterForeground: '2.2', applicationDidBecomeActive: '2.2',
  applicationWillResignActive: '2.2', applicationDidEnterBackground: '2.2', applicationWillTerminate: '2.2',
    applicationDidReceiveMemoryWarning: '2.2',
  sceneConfiguration: '2.2', sceneWillConnect: '2.2', sceneWillEnterForeground: '2.2', sceneDidBecomeActive: '2.2', sceneWillResignActive: '2.2',
  sceneDidEnterBackground: '2.2', sceneDidDisconnect: '2.2',
  receiveRemote: '5.1', receiveRemoteFetch: '5.3', receiveLocal: '5.2', handleActionRemote: '6.4', handleActionLocal: '6.4', willPresent: '5.5',
  receiveResponse: '6.1', openSettings: '6.5', registeredForRemoteNotifications: '13', failedToRegisterForRemoteNotifications: '13',
  registeredUserNotificationSettings: '13', backgroundTaskExpired: '8', expiringActivityExpired: '8', performFetch: '8',
    refreshTaskLaunched: '8',
  refreshTaskExpired: '8', backgroundRefreshStatusChanged: '7.3', protectedDataDidBecomeAvailable: '10',
    protectedDataWillBecomeUnavailable: '10',
  voipTokenUpdated: '12', voipPushReceived: '12', voipTokenInvalidated: '12', callAnswered: '12', callDeclined: '12', activityTokenUpdated: '12',
  pushToStartTokenUpdated: '12', activityUpdated: '12', serviceExtensionReceive: '10', serviceExtensionTimeWillExpire: '10',
};

const SECTION_OF_EVENT = {
  presentation: '4', badge: '4', arrival: '3.1', wake: '7.3', refused: '3.1', state: '2.1', token: '13', background_fetch: '8',
    refresh_task: '8',
  process_ended: '7.1', content_extension: '9', push: '3.2',
};

/** The case that a call's words depend on: the state it comes in, or what the person did. */
function variantOf(event) {
  const { name, response, remote_notification: remote, local_notification: local } = event.arguments ?? {};
  if (name === 'receiveRemoteFetch' || name === 'receiveRemote' || name === 'receiveLocal') return event.state;
  if (name === 'receiveResponse') {
    const action = response?.action ?? '';
    return response?.text ? 'text' : /dismiss/i.test(action) ? 'dismiss' : !action || /default/i.test(action) ? 'tap' : 'action';
  }
  if (name === 'didFinishLaunching' || name === 'willFinishLaunching') return remote || local ? 'notification' : event.state === 'background'
    ? 'background' : 'icon';
  if (name === 'sceneWillConnect') return response ? 'response' : 'icon';
  return '';
}

function chooseText(...keys) {
  const key = keys.find((candidate) => hasText(candidate));
  return key ? t(key) : '';
}

/** The line of documentation that explains a line of the trace: its words and the section they come from; null if there is none. */
export function explainEvent(event) {
  if (event.event === 'callback') {
    const name = event.arguments?.name;
    const text = chooseText(`phones.call.${name}.${variantOf(event)}`, `phones.call.${name}`);
    const section = name === 'receiveResponse' && variantOf(event) === 'dismiss' ? '6.3'
      : name === 'receiveResponse' && variantOf(event) !== 'tap' ? '6.4' : SECTION_OF_CALL[name];
    return text ? { text, section } : null;
  }
  const word = event.reason ?? event.outcome ?? event.class ?? event.state ?? '';
  const text = chooseText(`phones.event.${event.event}.${word}`, `phones.event.${event.event}`);
  return text ? { text, section: SECTION_OF_EVENT[event.event] } : null;
}

function shorten(text, length) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

function sayContent(content) {
  return [content?.title, content?.subtitle, content?.body].filter(Boolean).join(' – ');
}

/** What a call was called with, as far as it fits a line. */
export function readArguments(event) {
  const given = event.arguments ?? {};
  const request = given.request ?? given.notification?.request ?? given.response?.notification?.request;
  const words = [];
  if (given.remote_notification) words.push('remoteNotification');
  if (given.local_notification) words.push('localNotification');
  if (given.name === 'sceneWillConnect' && given.response) words.push('notificationResponse');
  if (given.response?.action && !/default/i.test(given.response.action)) words.push(given.response.action);
  if (given.response?.text) words.push(`“${given.response.text}”`);
  if (request) words.push(sayContent(request.content) || request.identifier);
  if (given.payload) words.push(sayContent(typeof given.payload.aps?.alert === 'string' ? { body: given.payload.aps.alert }
    : given.payload.aps?.alert) || JSON.stringify(given.payload));
  for (const name of ['token', 'reason', 'status', 'task', 'identifier',
    'call']) if (given[name] !== undefined && given[name] !== null && typeof given[name] !== 'object') words.push(name === 'token'
    ? `${String(given[name]).slice(0, 16)}…` : String(given[name]));
  return shorten(words.join(' · '), 160);
}

function sayResult(result) {
  if (typeof result === 'string') return result;
  if (!result) return '';
  if (result.result === 'content') return sayContent(result.content) || 'content';
  if (result.result === 'presentation') {
    const names = [[16, 'banner'], [8, 'list'], [4, 'alert'], [2, 'sound'],
      [1, 'badge']].filter(([bit]) => (Number(result.options) & bit) !== 0).map(([, name]) => name);
    return names.length ? names.join(', ') : 'none';
  }
  return result.result === 'fetch' ? ['newData', 'noData', 'failed'][result._0 ?? result.fetch] ?? JSON.stringify(result._0 ?? result)
    : result.result ?? '';
}

/** How a call was answered, in a few words. */
export function readResult(event) {
  return shorten(sayResult(event.result), 80);
}

const MESSAGE = /^[0-9a-hjkmnp-tv-z]{13}$/;

/** Returns the id of the message that a line is about; null where it is about none. */
export function messageOf(event) {
  const given = event.arguments ?? {};
  const request = given.request ?? given.notification?.request ?? given.response?.notification?.request;
  return [event.collapse_id, event.notification, request?.identifier, given.payload?.tidings?.mid].find((id) => typeof id === 'string' && MESSAGE.test(id)) ?? null;
}

/** The heading of a line and what stands behind it. */
export function describeEvent(event) {
  const label = hasText(`phones.trace.event.${event.event}`) ? t(`phones.trace.event.${event.event}`) : event.event;
  switch (event.event) {
    case 'callback': return { title: event.name, isCode: true, words: readArguments(event) };
    case 'presentation': {
      const parts = ['banner', 'panel', 'list', 'sound'].filter((name) => event[name]).map((name) => t(`phones.trace.part.${name}`));
      if (event.badge !== null && event.badge !== undefined) parts.push(t('phones.trace.part.badge', { n: event.badge }));
      return { title: label, words: parts.length ? parts.join(', ') : t('phones.trace.part.nothing') };
    }
    case 'state': return { title: label, words: hasText(`phones.state.${event.state}`) ? t(`phones.state.${event.state}`) : event.state };
    case 'badge': return { title: label, words: String(event.badge) };
    case 'push': return { title: label, words: [event.push_type, messageOf(event) ? null : event.collapse_id].filter(Boolean).join(' · ') };
    case 'arrival': return { title: label,
      words: `${event.class} · ${hasText(`phones.state.${event.state}`) ? t(`phones.state.${event.state}`) : event.state}` };
    case 'token': return { title: label, words: `${String(event.token).slice(0, 16)}…` };
    case 'process_ended': return { title: label, words: `${event.role} · ${event.reason}` };
    case 'process_started': return { title: label, words: event.role };
    case 'process_spawned': return { title: label, words: `pid ${event.pid}` };
    case 'process_died': return { title: label, words: event.how };
    case 'screen': return { title: label, words: shorten((event.screen?.stack ?? []).join(' › ') || JSON.stringify(event.screen), 120) };
    case 'log':
    case 'fault': return { title: label, words: event.text };
    case 'refresh_task': return { title: label, words: [event.identifier, hasText(`phones.trace.outcome.${event.outcome}`) ? t(`phones.trace.outcome.${event.outcome}`) : event.outcome].filter(Boolean).join(' · ') };
    case 'courier': return { title: label, words: [event.state, event.text].filter(Boolean).join(' ') };
    default: {
      const others = Object.entries(event).filter(([name, value]) => !['event', 'wall', 'app', 'n', 'process'].includes(name) && value !== null);
      return { title: label, words: shorten(others.map(([name,
        value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`).join(' '), 160) };
    }
  }
}
