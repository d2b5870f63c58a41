// Which page an address leads to. Pages make addresses with address.js: this module knows all pages, so none of them imports it.

import { routes } from './routes.js';

function decode(part) {
  try { return decodeURIComponent(part); } catch { return part; }
}

/** Returns what an address leads to: `{route, params, query}`; null where nothing is. */
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
