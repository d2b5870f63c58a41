// Words, numbers and times in the language of whoever reads.

import { h, bdi } from './dom.js';

const LANGUAGES = ['en', 'zh-Hans'];
const KEY = 'tidings.language';

let words = {};
let fallback = {};
let language = 'en';

/** The languages there are, by their own names. */
export const LANGUAGE_NAMES = { en: 'English', 'zh-Hans': '简体中文' };

export function currentLanguage() {
  return language;
}

function chooseLanguage() {
  const stored = readStored(KEY);
  if (LANGUAGES.includes(stored)) return stored;
  for (const wanted of navigator.languages ?? [navigator.language]) {
    if (wanted.toLowerCase().startsWith('zh')) return 'zh-Hans';
    if (wanted.toLowerCase().startsWith('en')) return 'en';
  }
  return 'en';
}

/** What was kept in this browser; null where the browser keeps nothing. */
export function readStored(key) {
  try { return localStorage.getItem(key); } catch { return null; }
}

/** Keeps it in this browser. Returns false where the storage is full or forbidden: it holds for this page, then. */
export function writeStored(key, value) {
  try {
    value === null ? localStorage.removeItem(key) : localStorage.setItem(key, value);
    return true;
  } catch {
    return false;
  }
}

/** Loads a language's words; without a name the one that fits the browser. */
export async function useLanguage(name) {
  if (name) writeStored(KEY, name);
  language = name ?? chooseLanguage();
  words = (await import(language === 'en' ? './text-en.js' : './text-zh-Hans.js')).default;
  fallback = words;
  document.documentElement.lang = language;
  formats.clear();
}

/** Loads the words that the first page does without: they are half of all. */
export async function usePageWords() {
  const asked = language;
  const more = asked === 'en' ? [import('./text-pages-en.js'), import('./text-sentences-en.js')]
    : [import('./text-pages-zh-Hans.js'), import('./text-sentences-zh-Hans.js')];
  for (const part of await Promise.all(more)) if (asked === language) addWords(part.default);
}

/** Adds the words of a part that brings its own. */
export function addWords(more) {
  words = { ...words, ...more };
  fallback = words;
}

function find(key) {
  return words[key] ?? fallback[key] ?? key;
}

/** Whether there are words for a key: for what a server may name and this console does not know yet. */
export function hasText(key) {
  return key in words;
}

/** The words for a key, with `{name}` filled in. */
export function t(key, places = {}) {
  return find(key).replace(/\{(\w+)\}/g, (whole, name) => (name in places ? String(places[name]) : whole));
}

/** The same as nodes: what is filled in is kept apart, so that its direction and marks change nothing around it. */
export function tx(key, places = {}) {
  const used = new Set();
  return find(key).split(/(\{\w+\})/).filter((part) => part !== '').map((part) => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (!name || !(name in places)) return part;
    const value = places[name];
    if (!(value instanceof Node)) return Array.isArray(value) ? value : bdi(value);
    // A place that is named twice needs a node for each.
    const node = used.has(name) ? value.cloneNode(true) : value;
    used.add(name);
    return node;
  });
}

/** Words that depend on a number: `key.one`, `key.other`. */
export function tn(key, count, places = {}) {
  const form = format('plural', () => new Intl.PluralRules(language)).select(count);
  return t(`${key}.${form in { one: 1, other: 1 } && hasText(`${key}.${form}`) ? form : 'other'}`, { n: number(count), ...places });
}

const formats = new Map();

function format(key, make) {
  if (!formats.has(key)) formats.set(key, make());
  return formats.get(key);
}

export function number(value) {
  return format('number', () => new Intl.NumberFormat(language, { maximumFractionDigits: 1 })).format(value);
}

export function compact(value) {
  if (Math.abs(value) < 10_000) return number(value);
  return format('compact', () => new Intl.NumberFormat(language, { notation: 'compact', maximumFractionDigits: 1 })).format(value);
}

export function percent(share) {
  return format('percent', () => new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 })).format(share);
}

export function list(items) {
  return format('list', () => new Intl.ListFormat(language, { type: 'conjunction' })).format(items);
}

/** The day and the time, to the second. */
export function dateTime(ms) {
  return format('dateTime', () => new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })).format(ms);
}

export function date(ms) {
  return format('date', () => new Intl.DateTimeFormat(language, { dateStyle: 'medium' })).format(ms);
}

/** The time of day, to the second. */
export function clock(ms) {
  return format('clock', () => new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }))
    .format(ms);
}

/** The time of day, to the millisecond. */
export function exactClock(ms) {
  return format('exactClock', () => new Intl.DateTimeFormat(language, {
    hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3, hourCycle: 'h23',
  })).format(ms);
}

function unit(value, name, digits) {
  return format(`unit-${name}-${digits}`, () => new Intl.NumberFormat(language, {
    style: 'unit', unit: name, unitDisplay: 'short', maximumFractionDigits: digits,
  })).format(value);
}

/** How long something took, in the unit that is read at a glance. */
export function duration(ms) {
  const size = Math.abs(ms);
  if (size < 1_000) return unit(Math.round(ms), 'millisecond', 0);
  if (size < 60_000) return unit(ms / 1_000, 'second', size < 10_000 ? 2 : 1);
  if (size < 3_600_000) return unit(ms / 60_000, 'minute', 1);
  if (size < 86_400_000 * 2) return unit(ms / 3_600_000, 'hour', 1);
  return unit(ms / 86_400_000, 'day', 0);
}

/** How long ago, or in how long. */
export function relative(ms, now = Date.now()) {
  const seconds = (ms - now) / 1_000;
  const size = Math.abs(seconds);
  const [value, name] = size < 60 ? [seconds, 'second'] : size < 3_600 ? [seconds / 60, 'minute']
    : size < 172_800 ? [seconds / 3_600, 'hour'] : size < 86_400 * 90 ? [seconds / 86_400, 'day'] : [seconds / 86_400 / 30.4, 'month'];
  return format('relative', () => new Intl.RelativeTimeFormat(language, { numeric: 'auto' })).format(Math.round(value), name);
}

export function bytes(count) {
  if (count < 1_000) {
    return format('bytes', () => new Intl.NumberFormat(language, { style: 'unit', unit: 'byte', unitDisplay: 'long' })).format(count);
  }
  if (count < 1_000_000) return unit(count / 1_000, 'kilobyte', 1);
  if (count < 1_000_000_000) return unit(count / 1_000_000, 'megabyte', 1);
  return unit(count / 1_000_000_000, 'gigabyte', 1);
}

/** A time for reading, whose exact value is one look away. */
export function timeElement(ms, shown = relative(ms)) {
  return h('time', { datetime: new Date(ms).toISOString(), title: dateTime(ms) }, shown);
}
