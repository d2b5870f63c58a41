// One virtual iPhone in the page: its frame, what its screen shows, and what a person does with it.

import { h } from './dom.js';
import { currentLanguage, t } from './text.js';
import { patch, v } from './phone-patch.js';
import { drawSign, drawStatusSigns } from './phone-icons.js';
import { takeGestures, wasGesture } from './phone-gestures.js';
import { AppScreen } from './phone-app.js';
import { hasContent } from './phone-views.js';
import { drawBanner, drawIcon, drawList, drawLongLook, nameApp, sayNotice } from './phone-notices.js';
import { drawActivity, drawCall, drawPanel, drawQuestion } from './phone-system.js';

const LEAVING = 260;

export class PhoneView {
  constructor(link) {
    this.link = link;
    this.isCenterOpen = false;
    this.longLook = null;
    this.openGroups = new Set();
    this.leaving = new Map();
    this.banners = [];
    this.said = '';
    this.spoken = h('div.phone-spoken', { 'aria-live': 'polite' });
    this.glass = h('div.phone-glass', { tabindex: '-1', on: { keydown: (event) => this.leave(event) } });
    this.key = h('div.phone-keys');
    this.body = h('div.phone-body', this.key, this.glass);
    this.element = h('section.phone', { 'aria-label': this.label, 'data-phone': link.id }, this.body, this.spoken);
    this.element.classList.toggle('is-classic', this.major < 11);
    link.addEventListener('change', () => this.draw());
    this.clock = setInterval(() => this.draw(), 15_000);
    this.draw();
  }

  close() {
    clearInterval(this.clock);
  }

  get label() {
    return t('phones.phone.label', { name: this.link.facts.user ?? this.link.id, ios: this.link.facts.ios });
  }

  get major() {
    return Number.parseInt(this.link.facts.ios, 10);
  }

  get isLocked() {
    return this.link.screen?.lock !== 'unlocked';
  }

  // What a person does

  /** Escape leaves what lies over the screen. */
  leave(event) {
    if (event.key !== 'Escape') return;
    if (this.longLook) this.collapse();
    else if (this.isCenterOpen) this.closeCenter();
  }

  get act() {
    const { link } = this;
    return {
      tap: async (notice) => {
        this.longLook = null;
        await this.closeCenter();
        await link.send({ do: 'tap', notification: notice.notification });
      },
      dismiss: (notice) => {
        if (this.longLook === notice.notification) this.collapse();
        link.send({ do: 'dismiss', notification: notice.notification });
      },
      expand: (notice) => {
        this.longLook = notice.notification;
        this.draw();
        link.send({ do: 'expand', notification: notice.notification });
      },
      swipeAway: (notice) => link.send({ do: 'swipe_away', notification: notice.notification }),
      collapse: () => this.collapse(),
      answer: (notice, action, text) => {
        link.send({ do: 'action', notification: notice.notification, action, ...(text === undefined ? {} : { text }) });
        this.collapse();
      },
      openSettings: (notice) => {
        this.collapse();
        link.send({ do: 'notification_settings', notification: notice.notification });
      },
    };
  }

  collapse() {
    this.longLook = null;
    if (this.link.screen?.expanded) this.link.send({ do: 'collapse' });
    this.draw();
  }

  openCenter() {
    if (this.isCenterOpen || this.isLocked) return;
    this.isCenterOpen = true;
    this.draw();
    // Notification Center covers the app in the foreground, which hears of it.
    if (this.link.screen?.front_app) this.link.send({ do: 'overlay', on: true });
  }

  async closeCenter() {
    if (!this.isCenterOpen) return;
    this.isCenterOpen = false;
    this.draw();
    if (this.link.screen?.front_app) await this.link.send({ do: 'overlay', on: false });
  }

  async goHome() {
    if (this.longLook) this.collapse();
    else if (this.isLocked) this.link.send({ do: 'unlock' });
    else if (this.isCenterOpen) await this.closeCenter();
    else this.link.send({ do: 'home' });
  }

  touch(view, action, more) {
    const command = { do: 'touch', app: this.link.screen?.front_app ?? this.link.app, ...(view === null ? {} : { view }), action, ...more };
    return this.link.send(command);
  }

  // The drawing

  draw() {
    const { screen, status } = this.link;
    const hadFocus = this.glass.contains(document.activeElement);
    this.noteBanners(screen);
    this.element.classList.toggle('is-locked', Boolean(screen) && this.isLocked);
    this.element.classList.toggle('is-dim', Boolean(screen) && this.isLocked && !screen.lit);
    this.drawKeys();
    const overlays = screen ? this.drawOverlays(screen) : [];
    patch(this.glass, [
      this.drawStatusBar(screen),
      screen ? this.drawFace(screen) : v('div.phone-waiting', { key: 'waiting' }, status === 'ended' ? null : t('phones.phone.starting')),
      ...overlays,
      this.drawIndicator(),
      status === 'live' || status === 'connecting' ? null
        : v('div.phone-off', { key: 'off' }, v('span', t(status === 'ended' ? 'phones.phone.off' : 'phones.phone.reconnecting'))),
    ].filter(Boolean));
    // What is covered is seen and not touched; a banner covers little.
    const isCovered = overlays.some((overlay) => !overlay.className.includes('phone-banners'));
    for (const face of this.glass.querySelectorAll(':scope > .phone-face')) face.inert = isCovered || !this.link.mayUse;
    this.moveFocus(hadFocus);
    this.say(screen);
  }

  /** A question takes the focus of whoever works with this phone; a view that goes away gives it back to the screen. */
  moveFocus(hadFocus) {
    if (!hadFocus) return;
    for (const box of this.glass.querySelectorAll('[data-takes-focus]')) {
      if (box.phoneHadFocus) continue;
      box.phoneHadFocus = true;
      // What comes in from above is not where it will be; the page must not follow it.
      box.querySelector('input:not(:disabled), button:not(:disabled)')?.focus({ preventScroll: true });
      return;
    }
    if (this.glass.contains(document.activeElement)) return;
    // Where a notification was cleared, the next one is at hand.
    const next = this.isCenterOpen || this.isLocked ? this.glass.querySelector('.phone-notices .phone-hit') : null;
    (next ?? this.glass).focus({ preventScroll: true });
  }

  /** Banners that have gone stay for as long as their way out takes. */
  noteBanners(screen) {
    // On a locked phone the list is what is seen.
    const now = !screen || this.isLocked ? [] : screen.banners;
    for (const banner of this.banners) {
      if (now.some((other) => other.notification === banner.notification) || this.leaving.has(banner.notification)) continue;
      this.leaving.set(banner.notification, banner);
      setTimeout(() => {
        this.leaving.delete(banner.notification);
        this.draw();
      }, LEAVING);
    }
    for (const banner of now) this.leaving.delete(banner.notification);
    this.banners = now;
  }

  /** What changes by itself is said to who listens: banners, and questions of the system. */
  say(screen) {
    const words = !screen ? '' : screen.permission_prompt ? t('phones.system.permission', { app: nameApp(screen.permission_prompt) })
      : screen.calls.length ? t('phones.system.call', { name: screen.calls[0].caller }) : screen.banners[0]
        ? t('phones.notice.banner', { name: sayNotice(screen.banners[0]) }) : '';
    if (words === this.said) return;
    this.said = words;
    this.spoken.textContent = words;
  }

  drawKeys() {
    const label = this.isLocked ? t('phones.do.unlock') : t('phones.do.lock');
    patch(this.key, [
      v('button.phone-key', { key: 'lock', type: 'button', 'aria-label': label, title: label,
        on: { click: () => this.link.send({ do: this.isLocked ? 'unlock' : 'lock' }) } }),
      v('span.phone-key.is-left', { key: 'up', 'aria-hidden': 'true' }),
        v('span.phone-key.is-left.is-lower', { key: 'down', 'aria-hidden': 'true' }),
      this.major < 11 ? v('button.phone-home-button', { key: 'home', type: 'button', 'aria-label': t('phones.do.home'),
        title: t('phones.do.home'), on: { click: () => this.goHome() } }) : null,
    ].filter(Boolean));
  }

  drawStatusBar(screen) {
    const time = new Intl.DateTimeFormat(currentLanguage(), { hour: 'numeric', minute: '2-digit', hourCycle: 'h23' }).format(Date.now());
    const signs = v('span.phone-status-signs', { key: 'signs' }, screen?.focus ? drawSign('moon', t('phones.do.focus')) : null,
      drawStatusSigns({ airplane: screen?.airplane, isLowPower: screen?.low_power }));
    const sides = [v('span.phone-status-time', { key: 'time' }, this.isLocked ? drawSign('lock') : time), signs];
    if (!screen || this.isLocked) return v('div.phone-status', { key: 'status' }, sides);
    return v('button.phone-status', {
      key: 'status', type: 'button', 'aria-expanded': String(this.isCenterOpen), 'aria-label': t('phones.do.center'),
        title: t('phones.do.center'), 'data-gesture': true,
      on: {
        ...takeGestures({ down: () => this.openCenter(), up: () => this.closeCenter() }),
        click: (event) => { if (!wasGesture(event.currentTarget)) this.isCenterOpen ? this.closeCenter() : this.openCenter(); },
      },
    }, sides);
  }

  drawIndicator() {
    if (this.major < 11) return null;
    const label = this.isLocked ? t('phones.do.unlock') : t('phones.do.home');
    return v('button.phone-indicator', {
      key: 'indicator', type: 'button', 'aria-label': label, title: label, 'data-gesture': true,
      on: { ...takeGestures({ up: () => this.goHome() }), click: (event) => { if (!wasGesture(event.currentTarget)) this.goHome(); } },
    });
  }

  drawFace(screen) {
    if (this.isLocked) return this.drawLockScreen(screen);
    const windows = this.link.frontViews;
    if (screen.front_app && hasContent(windows)) {
      return v('div.phone-face.is-app', { key: `app-${screen.front_app}` }, new AppScreen(windows, (...touch) => this.touch(...touch)).draw());
    }
    return screen.front_app ? this.drawPlainApp(screen) : this.drawHomeScreen(screen);
  }

  /** An app that shows no views, or not yet: what it reports of its screen. */
  drawPlainApp(screen) {
    const report = screen.apps[screen.front_app]?.screen;
    const stack = report?.stack ?? (Array.isArray(report) ? report : []);
    return v('div.phone-face.is-app', { key: 'plain' }, v('div.phone-plain', v('p', v('b', nameApp(screen.front_app))),
      stack.map((name) => v('p', v('bdi', String(name))))));
  }

  drawDay() {
    const now = Date.now();
    return v('div.phone-day', { key: 'day' },
      v('div.phone-date', new Intl.DateTimeFormat(currentLanguage(), { weekday: 'long', month: 'long', day: 'numeric' }).format(now)),
      v('div.phone-time', new Intl.DateTimeFormat(currentLanguage(), { hour: 'numeric', minute: '2-digit', hourCycle: 'h23' }).format(now)));
  }

  drawEntries(screen) {
    return [
      screen.activities.map((activity) => drawActivity(this.link, activity)),
      screen.list.length ? drawList(screen.list, this.act, {
        isGrouped: this.major >= 12, isOpen: (key) => this.openGroups.has(key),
        toggle: (key) => { this.openGroups.has(key) ? this.openGroups.delete(key) : this.openGroups.add(key); this.draw(); },
      }) : null,
      screen.held_for_summary.length ? v('p.phone-hint', { key: 'summary' }, t('phones.notice.summary', { n: screen.held_for_summary.length }))
        : null,
    ];
  }

  drawLockScreen(screen) {
    return v('div.phone-face.is-lock', { key: 'lock' },
      this.drawDay(),
      screen.lock === 'beforeFirstUnlock' ? v('p.phone-hint', { key: 'first' }, t('phones.system.beforeFirstUnlock')) : null,
      v('div.phone-entries', { key: 'entries' }, this.drawEntries(screen)),
      v('button.phone-unlock', { key: 'unlock', type: 'button', on: { click: () => this.link.send({ do: 'unlock' }) } },
        t('phones.do.swipeToUnlock')));
  }

  drawHomeScreen(screen) {
    return v('div.phone-face.is-home', { key: 'home' },
      v('ul.phone-icons', { 'aria-label': t('phones.system.home') }, this.link.apps.map((bundle) => {
        const badge = screen.badges[bundle] ?? 0;
        const name = nameApp(bundle);
        const label = badge ? t('phones.system.iconWithBadge', { app: name, n: badge }) : t('phones.system.icon', { app: name });
        return v('li', { key: bundle }, v('button.phone-app-icon',
          { type: 'button', 'aria-label': label, on: { click: () => this.link.send({ do: 'launch', app: bundle }) } },
          drawIcon('icon'), badge ? v('span.phone-badge', { 'aria-hidden': 'true' }, badge > 999 ? '999+' : badge) : null,
            v('span.phone-app-name', { 'aria-hidden': 'true' }, name)));
      })),
      v('div.phone-dock', { 'aria-hidden': 'true' }));
  }

  // What lies over everything

  drawOverlays(screen) {
    const large = this.longLook && screen.list.find((notice) => notice.notification === this.longLook);
    if (this.longLook && !large && !screen.banners.some((notice) => notice.notification === this.longLook)) this.longLook = null;
    const banners = [...this.banners.map((notice) => drawBanner(notice, this.act, false)),
      ...[...this.leaving.values()].map((notice) => drawBanner(notice, this.act, true))];
    return [
      this.isCenterOpen && !this.isLocked ? v('div.phone-center',
        { key: 'center', role: 'group', 'aria-label': t('phones.notice.center'), 'data-takes-focus': true },
      this.drawDay(), v('div.phone-entries', { key: 'entries' }, this.drawEntries(screen),
        screen.list.length ? null : v('p.phone-hint', t('phones.notice.none'))),
      v('button.phone-unlock', { key: 'close', type: 'button', on: { click: () => this.closeCenter() } }, t('phones.do.closeCenter'))) : null,
      banners.length && !this.isCenterOpen ? v('div.phone-banners', { key: 'banners' }, banners.slice(0, 3)) : null,
      large ? drawLongLook(large, screen.expanded, this.act) : null,
      ...screen.calls.slice(0, 1).map((call) => drawCall(this.link, call)),
      screen.permission_prompt ? drawQuestion('permission', t('phones.system.permission', { app: nameApp(screen.permission_prompt) }),
        t('phones.system.permissionText'), [
        [t('phones.do.deny'), () => this.link.send({ do: 'deny_notifications' })],
          [t('phones.do.allow'), () => this.link.send({ do: 'allow_notifications' })]]) : null,
      screen.unlock_for ? drawQuestion('unlock', t('phones.system.unlockFor'), t('phones.system.unlockForText'), [
        [t('phones.do.notNow'), () => this.link.send({ do: 'lock' })], [t('phones.do.unlock'), () => this.link.send({ do: 'unlock' })]]) : null,
      screen.alert_panel ? drawPanel(this.link, screen.alert_panel) : null,
    ].filter(Boolean);
  }
}
