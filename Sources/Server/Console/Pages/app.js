// The frame: sign-in, navigation, what is live, and the page of the address.

import { h, icon, shape, bdi, makeId } from './dom.js';
import { api, whenUnauthorized, confirmWith } from './api.js';
import { t, useLanguage, currentLanguage, LANGUAGE_NAMES, readStored, writeStored } from './text.js';
import { session, findSession, forgetSession, signOut } from './session.js';
import { LiveStream } from './events.js';
import { addressOf, go } from './address.js';
import { readAddress } from './router.js';
import { navigation } from './routes.js';
import { pageHead, problemBox, skeleton, setAnnouncer, announce, emptyState, button, toast } from './widgets.js';
import { rememberEvents } from './memory.js';

const THEMES = ['system', 'light', 'dark'];
const THEME_KEY = 'tidings.theme';
const APP_KEY = 'tidings.app';

const root = document.getElementById('app');
const frame = { main: null, state: null, nav: null, stream: null, apps: [], forget: () => {} };
let leavePage = () => {};
let shown = 0;
let pending = null;

function useTheme(theme) {
  writeStored(THEME_KEY, theme === 'system' ? null : theme);
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** A menu: a button, and what it opens. */
function menu({ label, iconName, content, className = '' }) {
  const id = makeId('menu');
  const box = h('div.menu-box', { id, hidden: true });
  const toggle = h('button.icon-button.menu-button', {
    type: 'button', 'aria-haspopup': 'true', 'aria-expanded': 'false', 'aria-controls': id, 'aria-label': label, title: label,
    on: { click: () => open(box.hidden) },
  }, icon(iconName));
  const open = (isOpen) => {
    // What is hidden cannot keep the focus; a dialog that was opened from here gives it back to the button.
    const hadFocus = box.contains(document.activeElement);
    if (isOpen) box.replaceChildren(...content(() => open(false)));
    box.hidden = !isOpen;
    toggle.setAttribute('aria-expanded', String(isOpen));
    if (isOpen) box.querySelector('button, a')?.focus();
    else if (hadFocus) toggle.focus();
  };
  return h('div.menu', {
    class: className,
    on: {
      keydown: (event) => {
        if (event.key === 'Escape' && !box.hidden) {
          open(false);
          toggle.focus();
        }
      },
      focusout: (event) => {
        if (!box.hidden && event.relatedTarget && !event.currentTarget.contains(event.relatedTarget)) open(false);
      },
    },
  }, toggle, box);
}

function choice(label, isChosen, onClick) {
  return h('button.menu-item', { type: 'button', 'aria-pressed': String(isChosen), on: { click: onClick } },
    h('span.menu-mark', isChosen ? icon('check') : ''), label);
}

/** The choice of light and dark, and of the language: on every page, also before anybody is signed in. */
function preferenceMenus() {
  return [
    menu({
      label: t('frame.theme'), iconName: 'theme',
      content: (close) => THEMES.map((theme) => choice(t(`frame.theme.${theme}`), (readStored(THEME_KEY) ?? 'system') === theme, () => {
        useTheme(theme);
        close();
      })),
    }),
    menu({
      label: t('frame.language'), iconName: 'language',
      content: () => Object.entries(LANGUAGE_NAMES).map(([name, label]) => choice(h('span', { lang: name }, label), name === currentLanguage(),
        async () => {
          await useLanguage(name);
          start();
        })),
    }),
  ];
}

function accountMenu() {
  return menu({
    label: t('frame.account', { name: session.operator }), iconName: 'person',
    content: (close) => [
      h('p.menu-head', bdi(session.operator), h('span.quiet', t('frame.roleIs', { role: t(`role.${session.role}`) }))),
      h('button.menu-item', {
        type: 'button', on: { click: async () => { close(); (await import('./password.js')).changePassword({ name: session.operator, isOwn: true }); } },
      }, h('span.menu-mark', icon('credentials')), t(session.hasPassword ? 'password.change' : 'password.set')),
      h('button.menu-item', {
        type: 'button',
        on: {
          click: async () => {
            closeStream();
            try { await signOut(); } catch { /* The cookie ends by itself; here it is forgotten. */ }
            start();
          },
        },
      }, h('span.menu-mark', icon('leave')), t('frame.signOut')),
    ],
  });
}

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);

/** Opens the field over everything, unless a question is open. */
async function openQuick() {
  if (!session.operator || !frame.main || document.querySelector('dialog[open]')) return;
  const { openQuick: open } = await import('./quick.js');
  if (!document.querySelector('dialog[open]')) open({ app: readAddress()?.params.app ?? lastApp(), apps: frame.apps, navigation });
}

function quickButton() {
  const keys = IS_MAC ? '⌘K' : 'Ctrl K';
  return h('button.quick-button', { type: 'button', 'aria-label': t('quick.open', { keys }), 'aria-keyshortcuts': 'Control+K Meta+K', title: t('quick.open', { keys }), on: { click: openQuick } },
    icon('search'), h('span.quick-words', t('quick.short')), h('kbd', keys));
}

const STATE_KINDS = { live: 'good', connecting: 'quiet', reconnecting: 'wait', offline: 'bad' };

function showStreamState(state) {
  if (!frame.state) return;
  frame.state.replaceChildren(shape(STATE_KINDS[state]), h('span', t(`live.${state}`)));
  frame.state.className = `live live-${STATE_KINDS[state]}`;
  frame.state.title = t(`live.${state}.long`);
}

function closeStream() {
  frame.forget();
  frame.stream?.close();
  frame.stream = null;
}

/** One stream for the app that is looked at; what is rare is always asked for, so that the frame knows whether it is live. */
function openStream(app) {
  if (frame.stream?.app === app) return;
  closeStream();
  if (!app) {
    if (frame.state) frame.state.replaceChildren();
    return;
  }
  frame.stream = new LiveStream(app, (state, before) => {
    showStreamState(state);
    if (before === 'reconnecting' && state === 'live') announce(t('live.back'));
  }, async () => {
    try {
      if (session.operator && !(await findSession())) endSession();
    } catch { /* The server does not answer; the stream tries again. */ }
  });
  showStreamState('connecting');
  frame.forget = rememberEvents(frame.stream);
}

function navigationLink(entry, app, current) {
  const address = app === null ? addressOf(...entry.parts) : addressOf('apps', app, ...entry.parts);
  return h('li', h('a.nav-link', { href: address, 'aria-current': current === entry.key ? 'page' : null }, icon(entry.icon), h('span', t(`nav.${entry.key}`))));
}

function appChooser(app) {
  if (!frame.apps.length) return null;
  const chooser = h('select', {
    'aria-label': t('frame.app'), value: app ?? '',
    on: { change: () => go(chooser.value ? addressOf('apps', chooser.value) : addressOf('apps')) },
  }, app ? null : h('option', { value: '' }, t('frame.chooseApp')),
  frame.apps.map((each) => h('option', { value: each.id }, each.settings?.name ? `${each.settings.name} (${each.id})` : each.id)));
  return h('div.app-chooser', chooser);
}

/** Beside the server's own pages stands the app somebody was at, so that there is a way back. */
function lastApp() {
  const last = readStored(APP_KEY);
  return frame.apps.some((each) => each.id === last) ? last : null;
}

function showNavigation(app, current) {
  frame.nav.replaceChildren(...[
    appChooser(app),
    app ? h('ul', navigation.app.map((entry) => navigationLink(entry, app, current))) : null,
    h('p.nav-title', t('nav.server')),
    h('ul', navigation.server.map((entry) => navigationLink(entry, null, current))),
  ].filter(Boolean));
}

function showFrame() {
  const main = h('main', { id: 'main', tabindex: '-1' });
  const nav = h('nav.side-nav', { 'aria-label': t('frame.navigation') });
  const state = h('span.live', { role: 'status' });
  const side = h('div.side', { id: 'side' }, nav);
  const openSide = (isOpen) => {
    side.classList.toggle('side-open', isOpen);
    sideButton.setAttribute('aria-expanded', String(isOpen));
    if (isOpen) side.querySelector('select, a')?.focus();
  };
  const sideButton = h('button.icon-button.side-button', {
    type: 'button', 'aria-label': t('frame.navigation'), 'aria-expanded': 'false', 'aria-controls': 'side',
    on: { click: () => openSide(!side.classList.contains('side-open')) },
  }, icon('menu'));
  side.addEventListener('click', (event) => { if (event.target.closest('a')) openSide(false); });
  side.addEventListener('change', () => openSide(false));
  side.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      openSide(false);
      sideButton.focus();
    }
  });
  const announcer = h('div.off-screen', { 'aria-live': 'polite' });
  setAnnouncer(announcer);
  root.replaceChildren(
    h('a.skip', { href: '#main', on: { click: (event) => { event.preventDefault(); (main.querySelector('h1') ?? main).focus(); } } }, t('frame.skip')),
    h('header.top',
      sideButton,
      h('a.brand', { href: '#/apps', 'aria-label': 'Tidings' }, h('img', { src: 'icon-tidings.svg', alt: '', width: 24, height: 24 }), h('span', 'Tidings')),
      h('div.top-space'),
      quickButton(), state, ...preferenceMenus(), accountMenu()),
    h('div.body', side, main),
    announcer,
    h('div.toasts', { id: 'toasts', 'aria-live': 'polite' }));
  Object.assign(frame, { main, nav, state });
}

/** What a page is given. */
function makePage(route, params, query, root, controller) {
  const leaving = [];
  const page = {
    root, params, query, app: params.app ?? null, signal: controller.signal,
    // Takes the focus instead of the heading, where an address leads to a part of the page.
    focusOn: null,
    onLeave: (handler) => leaving.push(handler),
    setTitle: (title) => { document.title = `${title} · Tidings`; },
    live: (types, handler, onReset, onPassedOver) => {
      if (frame.stream) leaving.push(frame.stream.subscribe(types, handler, onReset, onPassedOver));
    },
    apps: () => frame.apps,
    lastApp,
    reloadApps: loadApps,
    reload: () => showPage(),
  };
  const leave = () => {
    controller.abort();
    for (const handler of leaving.splice(0)) handler();
  };
  return { page, leave };
}

/** A question belongs to the page that has asked; a key that is told once stays until somebody has kept it. */
function closeDialogs() {
  for (const dialog of document.querySelectorAll('dialog[open]:not(.secret)')) dialog.close();
}

async function showPage({ keepFocus = false } = {}) {
  closeDialogs();
  leavePage();
  leavePage = () => {};
  const turn = ++shown;
  const found = readAddress();
  const app = found?.params.app ?? null;
  if (!location.hash || location.hash === '#/' || location.hash === '#') {
    location.replace(startAddress());
    return;
  }
  const isKnown = !app || frame.apps.some((each) => each.id === app);
  if (app && isKnown) writeStored(APP_KEY, app);
  openStream(isKnown ? app : null);
  showNavigation(app && isKnown ? app : app ? null : lastApp(), found?.route.nav);
  if (!found || !isKnown) {
    document.title = `${t('frame.notFound')} · Tidings`;
    frame.main.replaceChildren(h('div.page', pageHead({ title: t('frame.notFound') }), emptyState({
      title: app && !isKnown ? t('frame.noSuchApp', { app }) : t('frame.noSuchPage'),
      action: button({ label: t('frame.toApps'), href: addressOf('apps') }),
    })));
    frame.main.querySelector('h1').focus();
    return;
  }
  const content = h('div.page');
  frame.main.replaceChildren(content);
  content.append(skeleton(6));
  window.scrollTo(0, 0);
  const { page, leave } = makePage(found.route, found.params, found.query, content, new AbortController());
  leavePage = leave;
  try {
    const module = await found.route.load();
    if (turn !== shown) return;
    content.replaceChildren();
    await module.default(page);
  } catch (problem) {
    if (turn !== shown || problem.name === 'AbortError') return;
    content.replaceChildren(pageHead({ title: t('problem.page') }), problemBox(problem, () => showPage()));
  }
  if (turn !== shown) return;
  const heading = content.querySelector('h1');
  if (heading && document.title === 'Tidings') page.setTitle(heading.textContent);
  if (heading && !keepFocus) (page.focusOn ?? heading).focus({ preventScroll: true });
}

/** Where somebody begins who has named no place: the app they were at, or the only one there is. */
function startAddress() {
  const last = lastApp();
  if (last) return addressOf('apps', last);
  return frame.apps.length === 1 ? addressOf('apps', frame.apps[0].id) : addressOf('apps');
}

async function loadApps() {
  const apps = [];
  let cursor = null;
  do {
    const answer = await api.get('/v1/apps', { limit: 100, cursor });
    apps.push(...answer.apps);
    cursor = answer.next;
  } while (cursor && apps.length < 1_000);
  frame.apps = apps;
}

async function showSignIn(reason) {
  closeDialogs();
  leavePage();
  leavePage = () => {};
  shown += 1;
  closeStream();
  frame.main = null;
  const link = /^#link=(.+)$/.exec(location.hash)?.[1] ?? null;
  // The secret is taken out of the address at once: it must not stay in the history.
  if (link) history.replaceState(null, '', location.pathname);
  const { default: open } = await import('./page-signin.js');
  root.replaceChildren(h('header.top', h('span.brand', h('img', { src: 'icon-tidings.svg', alt: '', width: 24, height: 24 }), h('span', 'Tidings')),
    h('div.top-space'), ...preferenceMenus()), h('main.signin', { id: 'main' }));
  open({ root: root.querySelector('main'), link: link ?? pending, reason, done: () => { pending = null; start(); } });
  pending = link ?? pending;
}

async function start(asked = null) {
  try {
    if (location.hash.startsWith('#link=') || !(await (asked ?? findSession()))) {
      await showSignIn();
      return;
    }
    await loadApps();
  } catch (problem) {
    if (problem.status === 401) return;
    root.replaceChildren(h('main.signin', { id: 'main' }, pageHead({ title: t('problem.page') }), problemBox(problem, () => start())));
    return;
  }
  showFrame();
  closeStream();
  await showPage({ keepFocus: true });
}

function endSession() {
  if (!session.operator) return;
  forgetSession();
  showSignIn('expired');
}

whenUnauthorized(endSession);
confirmWith(async (repeat) => (await import('./password.js')).askPassword(repeat));

window.addEventListener('hashchange', () => {
  if (location.hash.startsWith('#link=')) start();
  else if (session.operator && frame.main) showPage();
});

document.addEventListener('click', (event) => {
  for (const open of document.querySelectorAll('.menu-button[aria-expanded="true"]')) {
    if (!open.parentElement.contains(event.target)) open.click();
  }
});

document.addEventListener('keydown', (event) => {
  // A browser that fills in a password tells a key press without a key.
  if (event.key?.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  event.preventDefault();
  openQuick();
});

window.addEventListener('unhandledrejection', (event) => {
  if (event.reason?.name === 'AbortError') event.preventDefault();
  else if (event.reason?.code) {
    event.preventDefault();
    toast(event.reason.detail || event.reason.code, 'bad');
  }
});

useTheme(readStored(THEME_KEY) ?? 'system');
// Who is signed in is asked while the words come.
const asked = findSession();
asked.catch(() => {});
// So does the page's module; a fault is told when the page is shown.
readAddress()?.route.load().catch(() => {});
await useLanguage();
await start(asked);
