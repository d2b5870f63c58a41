// The HTTP API, as `curl` has it too. Whatever is refused is thrown as a `Problem`.

/** What a request was refused with (RFC 9457), or that nobody answered. */
export class Problem extends Error {
  constructor({ status = 0, code = 'offline', detail = '', field = '', rule = '', request_id: requestId = '', retryAfter = null }) {
    super(detail || code);
    Object.assign(this, { status, code, detail, field, rule, requestId, retryAfter });
  }
}

/** What was entered wrong, as the server would say it: told beside the field. */
export function wrongField(field, rule) {
  return new Problem({ code: 'invalid_field', field, rule });
}

/** Fills a path: `path\`/v1/apps/${app}\`` writes each place so that it stays one part. */
export function path(parts, ...places) {
  return parts.reduce((whole, part, index) => whole + encodeURIComponent(places[index - 1]) + part);
}

let csrfToken = null;
let onUnauthorized = () => {};
let renewSession = null;
let askPassword = null;

export function setCSRFToken(token) {
  csrfToken = token;
}

export function whenUnauthorized(handler) {
  onUnauthorized = handler;
}

/** What looks for the session's token again: another tab may have signed in since. */
export function renewSessionWith(handler) {
  renewSession = handler;
}

/** What asks for the operator's password where the server wants it beside a request: gets what sends it again with a password, resolves as `formDialog`. */
export function confirmWith(handler) {
  askPassword = handler;
}

/** The same request with the password; what else is wrong with it is told where it was asked for. */
async function confirmed(problem, repeat) {
  const done = await askPassword(async (password) => {
    try {
      return { value: await repeat(password) };
    } catch (other) {
      if (other.field === 'own_password') throw other;
      return { other };
    }
  });
  if (!done) throw problem;
  if (done.other) throw done.other;
  return done.value;
}

function withQuery(address, query) {
  const entries = Object.entries(query ?? {}).filter(([, value]) => value !== null && value !== undefined && value !== '');
  return entries.length ? `${address}?${new URLSearchParams(entries)}` : address;
}

async function problemOf(response) {
  const retryAfter = Number(response.headers.get('Retry-After')) || null;
  let body = {};
  try { body = await response.json(); } catch { /* Something on the way has answered, not the server. */ }
  const [field, detail] = [body.field ?? '', body.detail ?? ''];
  return new Problem({
    status: response.status, code: body.code ?? (response.status >= 500 ? 'unavailable' : 'bad_request'), detail, field,
    // The sentence without the field, for what is told beside it.
    rule: field && detail.startsWith(`${field} `) ? detail.slice(field.length + 1) : detail, request_id: body.request_id ?? response.headers.get('X-Request-Id') ?? '', retryAfter,
  });
}

async function request(method, address, { body, query, signal, headers = {}, key, asText = false, quiet = false, isRepeat = false } = {}) {
  const sent = { Accept: asText ? '*/*' : 'application/json', ...headers };
  if (body !== undefined) sent['Content-Type'] = 'application/json';
  if (method !== 'GET' && csrfToken) sent['X-CSRF-Token'] = csrfToken;
  if (key) sent['Idempotency-Key'] = `"${key}"`;
  let response;
  try {
    response = await fetch(withQuery(address, query), {
      method, headers: sent, signal, body: body === undefined ? undefined : JSON.stringify(body), credentials: 'same-origin', cache: 'no-store',
    });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Problem({ code: 'offline' });
  }
  if (!response.ok) {
    const problem = await problemOf(response);
    if (problem.code === 'csrf' && renewSession && !isRepeat && await renewSession()) {
      return request(method, address, { body, query, signal, headers, key, asText, quiet, isRepeat: true });
    }
    if (problem.code === 'confirmation_needed' && problem.field === 'own_password' && askPassword) {
      return confirmed(problem, (password) => request(method, address, { body: { ...body, own_password: password }, query, signal, headers, key, asText, quiet }));
    }
    if (problem.status === 401 && !quiet) onUnauthorized(problem);
    throw problem;
  }
  if (asText) return response.text();
  if (response.status === 204) return null;
  const text = await response.text();
  return text ? JSON.parse(text) : null;
}

export const api = {
  get: (address, query, options) => request('GET', address, { query, ...options }),
  text: (address, options) => request('GET', address, { asText: true, ...options }),
  // A POST has a key of its own: what was sent twice is done once.
  post: (address, body, options) => request('POST', address, { body: body ?? {}, key: crypto.randomUUID?.(), ...options }),
  put: (address, body, options) => request('PUT', address, { body: body ?? {}, ...options }),
  patch: (address, body, options) => request('PATCH', address, { body, ...options }),
  delete: (address, options) => request('DELETE', address, options),
};

/** The same request for a shell. `key` names the variable that holds it; null for none. */
export function curlOf(method, address, body, { key = 'OPERATOR_KEY', origin = location.origin } = {}) {
  const lines = [`curl ${method === 'HEAD' ? '-I' : `-X ${method}`} '${origin}${address}'`];
  if (key) lines.push(`-H "Authorization: Bearer $${key}"`);
  if (body !== undefined) {
    lines.push(`-d '${JSON.stringify(body).replaceAll('\'', '\'\\\'\'')}'`);
  }
  return lines.join(' \\\n     ');
}

/** The values of `/metrics`: `[{name, labels, value}]`. */
export function readMetrics(text) {
  const found = [];
  for (const line of text.split('\n')) {
    const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)$/.exec(line);
    if (!match) continue;
    const labels = {};
    for (const [, name, value] of (match[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[name] = value;
    found.push({ name: match[1], labels, value: Number(match[3]) });
  }
  return found;
}
