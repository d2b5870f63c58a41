// Who is signed in, and what they may do.

import { api, setCSRFToken, renewSessionWith } from './api.js';

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
  setCSRFToken(answer.csrf_token);
}

/** Whether there is a session; it is another's cookie, so only the server knows. */
export async function findSession() {
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
  try { await api.delete('/v1/session', { quiet: true }); } finally { forgetSession(); }
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
