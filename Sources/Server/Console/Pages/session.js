// Who is signed in, and what they may do.

import { api, setCSRFToken, renewSessionWith } from './api.js';
import { readStored, writeStored } from './text.js';

/** The token is told at the sign-in alone, and kept for all tabs of this very host and port; the cookie goes to its other ports, too. */
const TOKEN_KEY = 'tidings.token';
let token = null;

const ORDER = ['view', 'content', 'send', 'administer'];

export const session = { operator: null, role: null, expiresAt: null, hasPassword: false };

export const ROLES = ORDER;

/** Whether the one who is signed in has a role or one above it. */
export function may(role) {
  return ORDER.indexOf(session.role) >= ORDER.indexOf(role);
}

const endings = new Set();

/** Calls a handler when a session has ended, or is another operator's: what was kept of it is forgotten then. */
export function whenSessionEnds(handler) {
  endings.add(handler);
}

function end() {
  for (const handler of endings) handler();
}

function take(answer) {
  if (session.operator && session.operator !== answer.operator) end();
  session.operator = answer.operator;
  session.role = answer.role;
  session.expiresAt = answer.expires_at;
  session.hasPassword = answer.has_password ?? true;
  if (answer.csrf_token) {
    token = answer.csrf_token;
    writeStored(TOKEN_KEY, token);
  }
  setCSRFToken(token);
}

/** Whether there is a session; it is another's cookie, so only the server knows. Without its token it is none that this page can use. */
export async function findSession() {
  token = readStored(TOKEN_KEY) ?? token;
  if (!token) return false;
  try {
    take(await api.get('/v1/session', null, { quiet: true }));
    return true;
  } catch (problem) {
    if (problem.status === 401) return false;
    throw problem;
  }
}

export async function signIn(body) {
  take(await api.post('/v1/session', body, { quiet: true, key: null }));
}

export async function signOut() {
  try { await api.delete('/v1/session', { quiet: true }); } finally {
    token = null;
    writeStored(TOKEN_KEY, null);
    forgetSession();
  }
}

export function forgetSession() {
  session.operator = null;
  session.role = null;
  setCSRFToken(null);
  end();
}

renewSessionWith(async () => {
  try { return await findSession(); } catch { return false; }
});
