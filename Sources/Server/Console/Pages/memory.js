// What this page has seen happen, kept for the life of a message: the trace has its ends, and the waits before them only while they last.

/** So many messages are remembered, with so many events each; the oldest are forgotten first. */
const MESSAGES = 500;
const EVENTS = 60;
const TYPES = ['lane', 'credential_expiring', 'storage'];

export const LEG_TYPES = ['message_accepted', 'leg_sent', 'leg_waiting', 'leg_ended', 'receipt', 'push_answered', 'message_recalled', 'message_edited'];

const messages = new Map();
/** The push lanes that were told of, by environment and topic; a lane nobody has told of is one nothing is known against. */
export const lanes = new Map();
export const alarms = { storage: null, credentials: new Map() };
const listeners = new Set();

export function rememberEvents(stream) {
  messages.clear();
  lanes.clear();
  alarms.storage = null;
  alarms.credentials.clear();
  return stream.subscribe(TYPES, (events) => {
    for (const { type, data } of events) {
      if (type === 'lane') lanes.set(`${data.environment} ${data.topic}`, data);
      if (type === 'storage') alarms.storage = data;
      if (type === 'credential_expiring') alarms.credentials.set(data.credential, data);
    }
    for (const listener of listeners) listener();
  });
}

export function whenAlarmsChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Keeps events of messages; pages that watch them call it. */
export function keep(events) {
  for (const event of events) {
    const id = event.data.message_id;
    if (!id) continue;
    let kept = messages.get(id);
    if (!kept) {
      kept = [];
      messages.set(id, kept);
      if (messages.size > MESSAGES) messages.delete(messages.keys().next().value);
    }
    if (kept.length < EVENTS && !kept.some((each) => each.id === event.id)) kept.push(event);
  }
}

export function eventsOf(messageId) {
  return messages.get(messageId) ?? [];
}
