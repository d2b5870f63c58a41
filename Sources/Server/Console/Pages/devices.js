// Names of devices: "bob's iPhone" for an id that a program has made; the id itself where a person has chosen it.

import { h, bdi } from './dom.js';
import { api, path } from './api.js';
import { t, tx, hasText } from './text.js';
import { whenSessionEnds } from './session.js';
import { addressOf } from './address.js';

/** For so long, in milliseconds, what is known of somebody's devices is not asked for again. */
const KEPT = 60_000;
/** Devices of so many people are asked for at once: a browser has six connections to a server, and other things need some. */
const AT_ONCE = 3;
/** The most people whose devices are looked up for one message; the others are shown by their ids. */
const PEOPLE = 60;
/** The devices of so many people are kept, and so many people wait to be asked about: a page that stays open sees ever more. */
const MOST = 500;
const WAITING = 60;
const MADE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** By app and person: `{at, devices}`, devices null until they are known. */
const known = new Map();
const waiting = [];
let running = 0;

function keyOf(app, user) {
  return `${app} ${user}`;
}

/** Returns model and system in Apple's words, with its version: "iPhone16,1 · iOS 17.2". */
export function systemWords({ platform, status }) {
  const name = hasText(`platform.${platform}`) ? t(`platform.${platform}`) : platform;
  return [status?.model, [name, status?.system_version].filter(Boolean).join(' ')].filter(Boolean).join(' · ');
}

function kindWord({ platform }) {
  return t(hasText(`deviceKind.${platform}`) ? `deviceKind.${platform}` : 'deviceKind.other');
}

/** Returns what a device is called among those of its person: two of a kind are told apart by the end of their ids. */
export function nameAmong(user, device, all) {
  if (!MADE.test(device.id)) return device.id;
  const name = t('device.of', { user, kind: kindWord(device) });
  const isAlone = all.filter((each) => MADE.test(each.id) && kindWord(each) === kindWord(device)).length < 2;
  return isAlone ? name : t('device.ofSeveral', { name, end: device.id.slice(-4) });
}

function find(app, user, device) {
  const devices = known.get(keyOf(app, user))?.devices;
  const found = devices?.find((each) => each.id === device);
  return found ? { found, devices } : null;
}

/** Returns the name of a device as far as it is known now; of one that is signed out, only whose it was. */
export function deviceName(app, user, device) {
  if (!device) return t('leg.noDeviceName');
  if (!MADE.test(device)) return device;
  const among = find(app, user, device);
  return among ? nameAmong(user, among.found, among.devices) : t('device.of', { user, kind: t('deviceKind.other') });
}

function titleOf(app, user, device) {
  const among = find(app, user, device);
  return [among ? systemWords(among.found) : null, among?.found.status?.app_version ? t('device.appVersion', { version: among.found.status.app_version }) : null, device]
    .filter(Boolean).join(' · ');
}

function askNext() {
  while (running < AT_ONCE && waiting.length) {
    running += 1;
    waiting.shift().ask().finally(() => {
      running -= 1;
      askNext();
    });
  }
}

/** Looks up the devices of a person. Resolves when they are known, or cannot be. */
function lookUp(app, user) {
  const key = keyOf(app, user);
  const held = known.get(key);
  if (held && Date.now() - held.at < KEPT) return held.asked;
  const entry = { at: Date.now(), devices: held?.devices ?? null };
  entry.asked = new Promise((resolve) => {
    waiting.push({
      ask: async () => {
        try { entry.devices = (await api.get(path`/v1/apps/${app}/users/${user}/devices`, { limit: 100 })).devices; } catch { /* It is shown by its id. */ }
        resolve();
      },
      // Not asked for: it may be later.
      drop: () => {
        entry.at = 0;
        resolve();
      },
    });
  });
  keep(key, entry);
  if (waiting.length > WAITING) waiting.shift().drop();
  askNext();
  return entry.asked;
}

function keep(key, entry) {
  known.delete(key);
  known.set(key, entry);
  if (known.size > MOST) known.delete(known.keys().next().value);
}

whenSessionEnds(() => {
  known.clear();
  for (const each of waiting.splice(0)) each.drop();
});

/** Keeps what a page has loaded of somebody's devices. */
export function rememberDevices(app, user, devices) {
  keep(keyOf(app, user), { at: Date.now(), devices, asked: Promise.resolve() });
}

/** Looks up the devices of legs, `{user, device}`, as far as their ids say nothing. */
export async function knowDevices(app, legs) {
  const people = new Set(legs.filter((leg) => leg.device && MADE.test(leg.device)).map((leg) => leg.user));
  await Promise.all([...people].slice(0, PEOPLE).map((user) => lookUp(app, user)));
}

/** Fills in the name, now and when it comes. */
function fill(element, app, user, device) {
  const show = () => {
    element.replaceChildren(bdi(deviceName(app, user, device)));
    if (device) element.title = titleOf(app, user, device);
  };
  show();
  if (device && MADE.test(device)) lookUp(app, user).then(show);
  return element;
}

/** Makes the name of a device, its id in the title. */
export function deviceWords(app, user, device) {
  return fill(h('span.device'), app, user, device);
}

/** Makes the name of a device with whose it is, where the name does not say so: for sentences. */
export function deviceOf(app, user, device) {
  const words = deviceWords(app, user, device);
  return device && !MADE.test(device) ? h('span', tx('device.named', { user: bdi(user), device: words })) : words;
}

/** Makes the name of a device as a link to its page. */
export function deviceLink(app, user, device) {
  if (!device) return deviceWords(app, user, device);
  return fill(h('a.device', { href: addressOf('apps', app, 'people', user, 'devices', device) }), app, user, device);
}
