// What somebody is writing, one draft for each app: it is still there after another page, another language or another choice. It is in
// memory alone and ends with the session, since it may hold what people are told.

import { Problem } from './api.js';
import { t } from './text.js';
import { whenSessionEnds } from './session.js';

export const KINDS = ['push', 'message', 'silent', 'custom'];
const KEY_ORDER = ['title', 'subtitle', 'text', 'sound', 'category', 'interruption_level', 'relevance_score', 'thread_id', 'image', 'custom'];

function wordsOf(text) {
  return text.split(/[,，\s]+/).map((word) => word.trim()).filter(Boolean);
}

/** Whom an entry names, by its kind; null for nobody yet. */
function audienceOf(kind, entry) {
  const found = wordsOf(entry);
  switch (kind) {
    case 'everybody': return { everybody: true };
    case 'users': return found.length ? { users: found } : null;
    case 'tag': return found.length === 1 ? { tag: found[0] } : found.length ? { all: found.map((tag) => ({ tag })) } : null;
    case 'alias': return entry.trim() ? { alias: entry.trim() } : null;
    default:
      try { return JSON.parse(entry); } catch { return null; }
  }
}

class Draft {
  constructor() {
    this.what = 'push';
    this.options = { sound: 'default' };
    this.text = '';
    this.audienceKind = 'everybody';
    /** What was entered for each kind of audience. */
    this.audienceEntries = {};
    this.when = 'now';
    this.sender = '';
    this.type = 'PR';
    this.target = '';
    this.silent = { user: '', data: '' };
  }

  /** Everything that was entered, to be compared. */
  get entered() {
    const { options, text, audienceKind, audienceEntries, when, sender, target, silent, at, local, rate, lifetime, accountText, conversation, counted, ignoresBlocks } = this;
    const all = { ...options, text, audienceKind, ...audienceEntries, when, sender, target, silentUser: silent.user, silentData: silent.data, at, local, rate, lifetime, accountText, conversation, counted, ignoresBlocks };
    return JSON.stringify(Object.entries(all).filter(([, value]) => value));
  }

  get isEmpty() {
    return this.entered === new Draft().entered;
  }

  get audience() {
    return audienceOf(this.audienceKind, this.audienceEntries[this.audienceKind] ?? '');
  }

  get account() {
    const [kind, id] = (this.accountText ?? '').trim().split(/\s+/);
    return id ? { kind, id } : null;
  }

  /** The options that were set, in the order of the documentation; throws what cannot be read. */
  pushOptions(withText) {
    const found = {};
    for (const key of KEY_ORDER) {
      const value = key === 'text' ? (withText ? this.text : '') : this.options[key];
      if (value === undefined || value === '') continue;
      if (key === 'custom') {
        try { found.custom = JSON.parse(value); } catch { throw new Problem({ code: 'invalid_field', field: 'custom', rule: t('compose.customWrong') }); }
      } else found[key] = key === 'relevance_score' ? Number(value) : value;
    }
    return found;
  }

  body() {
    if (this.what === 'message') {
      const push = this.pushOptions(false);
      if (push.sound === 'default') delete push.sound;
      return {
        sender: this.sender, client_message_id: this.clientId, conversation: { type: this.type, target: this.target },
        content: JSON.stringify({ content: this.text }), ...(Object.keys(push).length ? { push } : {}),
      };
    }
    const body = this.what === 'custom' ? { custom: { content: this.text, ...(this.options.title ? { title: this.options.title } : {}) } } : { notification: this.pushOptions(true) };
    body.audience = this.audience;
    if (this.when === 'at') body.send_at = this.at ? new Date(this.at).getTime() : null;
    if (this.when === 'local') Object.assign(body, { send_at_local: this.local || null, time_zone: this.zone || null });
    if (this.rate) body.rate_per_second = Number(this.rate);
    if (this.lifetime) body.lifetime_ms = Number(this.lifetime) * 3_600_000;
    // What the app alone gets stands in no list, and what stands in none never counts.
    if (this.conversation && this.what === 'push') Object.assign(body, { conversation: true, ...(this.counted ? { counted: true } : {}) });
    if (this.ignoresBlocks) body.ignores_blocks = true;
    if (this.account) body.account = this.account;
    return body;
  }
}

const drafts = new Map();
/** The requests that were sent from here, by app and push. The server tells a push's text only shortened, and on request. */
const sent = new Map();
whenSessionEnds(() => {
  drafts.clear();
  sent.clear();
});

export function rememberSent(app, push, body) {
  sent.set(`${app} ${push}`, body);
}

/** Returns the request that a push was sent with from here in this session; undefined for any other. */
export function sentFromHere(app, push) {
  return sent.get(`${app} ${push}`);
}

/** Begins a draft of an app with a push there was: what it says and whom it was for, not its time. */
export function draftAgain(app, { notification, custom, audience, rate_per_second: rate, lifetime_ms: lifetime, conversation, counted, ignores_blocks: ignoresBlocks, account }) {
  const draft = new Draft();
  drafts.set(app, draft);
  draft.what = custom ? 'custom' : 'push';
  const { text, custom: data, ...options } = notification ?? { title: custom?.title, text: custom?.content };
  draft.text = text ?? '';
  draft.options = Object.fromEntries(Object.entries({ sound: '', ...options, ...(data ? { custom: JSON.stringify(data, null, 2) } : {}) }).filter(([, value]) => value !== null && value !== undefined).map(([key, value]) => [key, String(value)]));
  const [[kind, value]] = Object.entries(audience);
  draft.audienceKind = ['everybody', 'users', 'tag', 'alias'].includes(kind) ? kind : 'json';
  if (kind !== 'everybody') draft.audienceEntries[draft.audienceKind] = { users: () => value.join(', '), json: () => JSON.stringify(audience, null, 2) }[draft.audienceKind]?.() ?? value;
  Object.assign(draft, { rate: rate ? String(rate) : '', lifetime: lifetime ? String(lifetime / 3_600_000) : '', conversation, counted, ignoresBlocks, accountText: account ? `${account.kind} ${account.id}` : '' });
  return draft.what;
}

/** The draft of an app, as an address asks for it: of which kind, and to whom. */
export function openDraft(app, query) {
  const draft = drafts.get(app) ?? new Draft();
  drafts.set(app, draft);
  draft.what = KINDS.includes(query.what) ? query.what : 'push';
  if (query.type) draft.type = query.type;
  if (query.to && draft.what === 'silent') draft.silent.user = query.to;
  else if (query.to) draft.target = query.to;
  // What a page sends twice is sent once; what another page sends is something else.
  draft.clientId = crypto.randomUUID?.() ?? `console-${Date.now()}`;
  return draft;
}

export function forgetDraft(app) {
  drafts.delete(app);
}
