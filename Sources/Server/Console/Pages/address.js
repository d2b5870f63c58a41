// Addresses stand in the fragment: `#/apps/demo/messages?user=bob`. Back and forward are the browser's own. Which page an address leads to, router.js knows.

/** Returns the address of a place: `addressOf('apps', app, 'messages', id)`; a query as the last argument. */
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
