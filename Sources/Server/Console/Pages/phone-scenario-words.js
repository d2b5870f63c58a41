// How docs/testing/scenarios.md writes what happens to a phone, and what iOS calls.

/** A text as YAML takes it everywhere. */
export function quote(text) {
  return /^[A-Za-z][A-Za-z0-9 ._-]*[A-Za-z0-9]$|^[A-Za-z]$/.test(text) && !/^(yes|no|on|off|true|false|null|y|n)$/i.test(text) ? text
    : JSON.stringify(text);
}

/** A word of the format, which is written without quotes: `on`, `yes`. */
export const word = (text) => ({ isWord: true, text });

export function flow(value) {
  if (value?.isWord) return value.text;
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  if (value && typeof value === 'object') return `{${Object.entries(value).map(([name, inner]) => `${/^[\w-]+$/.test(name) ? name : JSON.stringify(name)}: ${flow(inner)}`).join(', ')}}`;
  return String(value);
}

export const START = {
  foregroundActive: 'foreground active', foregroundInactive: 'foreground inactive', backgroundRunning: 'background', suspended: 'suspended',
  notRunning: 'not running', forceQuit: 'force-quit',
};

export const CALLS = {
  applicationWillEnterForeground: 'willEnterForeground', applicationDidBecomeActive: 'didBecomeActive',
    applicationWillResignActive: 'willResignActive',
  applicationDidEnterBackground: 'didEnterBackground', applicationWillTerminate: 'willTerminate',
  applicationDidReceiveMemoryWarning: 'didReceiveMemoryWarning', sceneConfiguration: 'configurationForConnecting',
  receiveRemote: 'didReceiveRemoteNotification', receiveRemoteFetch: 'didReceiveRemoteNotificationFetch',
    receiveLocal: 'didReceiveLocalNotification',
  handleActionRemote: 'handleRemoteAction', handleActionLocal: 'handleLocalAction', receiveResponse: 'didReceive',
  registeredForRemoteNotifications: 'didRegisterForRemoteNotifications',
    failedToRegisterForRemoteNotifications: 'didFailToRegisterForRemoteNotifications',
  registeredUserNotificationSettings: 'didRegisterUserNotificationSettings', refreshTaskLaunched: 'refreshTask',
  backgroundRefreshStatusChanged: 'backgroundRefreshStatusDidChange', voipTokenUpdated: 'didUpdatePushCredentials',
  voipTokenInvalidated: 'didInvalidatePushToken', voipPushReceived: 'didReceiveIncomingPush', activityTokenUpdated: 'activityToken',
  pushToStartTokenUpdated: 'pushToStartToken', serviceExtensionReceive: 'serviceExtension',
};

export const SWITCHES = new Set(['notifications', 'alert', 'sound', 'badge', 'notificationCenter', 'lockScreen', 'backgroundRefresh',
  'criticalAlert', 'timeSensitive', 'scheduledDelivery']);

export const turn = (on) => word(on ? 'on' : 'off');

// Steps of what concerns no notification and no view, by the command's name.
export const STEPS = {
  launch: () => ['person', 'open'], home: () => ['person', 'home'], lock: () => ['person', 'lock'], unlock: () => ['person', 'unlock'],
  force_quit: () => ['person', 'forceQuit'], overlay: ({ on }) => ['person', on ? 'overlayAppears' : 'overlayDisappears'],
  kill: () => ['system', 'kill'], freeze: () => ['system', 'freeze'], evict: () => ['system', 'evict'],
    memory_low: () => ['system', 'lowMemory'],
  restart: () => ['system', 'restart'], disconnect_scene: () => ['system', 'disconnectScene'], prewarm: () => ['system', 'prewarm'],
  background_chance: () => ['system', 'backgroundChance'], restore_from_backup: () => ['system', 'restoreFromBackup'],
  update: () => ['install', 'update'], reinstall: () => ['install', 'again'],
  airplane: ({ on }) => ['airplaneMode', turn(on)], low_power: ({ on }) => ['lowPowerMode', turn(on)], mute: ({ on }) => ['mute', turn(on)],
  focus: ({ on }) => ['focus', on ? 'timeSensitive' : turn(false)],
  background_refresh: ({ on }) => ['backgroundRefresh', turn(on)],
    restricted_refresh: ({ on }) => ['backgroundRefresh', on ? 'restricted' : turn(true)],
  alert_style: ({ style }) => ['alertStyle', style], alert_panel: ({ open }) => ['panel', open ? 'view' : 'close'],
  answer_call: () => ['call', 'answer'], decline_call: () => ['call', 'decline'], app_settings: () => ['openSettings', 'app'],
  allow_notifications: () => ['prompt', 'allow'], deny_notifications: () => ['prompt', 'deny'],
  summary_times: ({ minutes }) => ['summaryTimes',
    minutes.map((minute) => `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`)],
};

export const OF_NOTICE = { tap: 'tap', dismiss: 'dismiss', swipe_away: 'swipeBanner', notification_settings: 'openSettings' };
