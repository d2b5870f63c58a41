// Addresses stand in the fragment: `#/apps/demo/messages?user=bob`. Back and forward are the browser's own.

import { routes } from './routes.js';

/** The address of a place: `addressOf('apps', app, 'messages', id)`; a query as the last argument. */
export function addressOf(...parts) {
  const query = typeof parts.at(-1) === 'object' ? parts.pop() : null;
  const entries = Object.entries(query ?? {}).filter(([, value]) => value !== null && value !== undefined && value !== '');
  return `#/${parts.map(encodeURIComponent).join('/')}${entries.length ? `?${new URLSearchParams(entries)}` : ''}`;
}

export function go(address) {
  if (location.hash === address) window.dispatchEvent(new HashChangeEvent('hashchange'));
  else location.hash = address;
}

/** Changes the address without a new place in the history, for what a filter shows. */
export function replaceAddress(address) {
  history.replaceState(history.state, '', address);
}

function decode(part) {
  try { return decodeURIComponent(part); } catch { return part; }
}

/** What an address leads to: `{route, params, query}`; null where nothing is. */
export function readAddress(hash = location.hash) {
  const [pathname, search] = hash.replace(/^#\/?/, '').split('?');
  const parts = pathname.split('/').filter((part) => part !== '').map(decode);
  for (const route of routes) {
    if (route.parts.length !== parts.length) continue;
    const params = {};
    const fits = route.parts.every((part, index) => {
      if (!part.startsWith(':')) return part === parts[index];
      params[part.slice(1)] = parts[index];
      return true;
    });
    if (fits) return { route, params, query: Object.fromEntries(new URLSearchParams(search ?? '')) };
  }
  return null;
}
