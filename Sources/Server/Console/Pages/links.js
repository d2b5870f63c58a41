// Names of conversations and messages, as links to their pages.

import { h } from './dom.js';
import { t } from './text.js';
import { addressOf } from './address.js';

export function conversationLink(app, conversation) {
  if (!conversation) return '–';
  const words = [t(`kind.${conversation.type}`), ' ', h('bdi', conversation.target)];
  return h('a', { href: addressOf('apps', app, 'conversations', conversation.type, conversation.target) }, words);
}

/** Returns the text of a content; null where it has none that is read. */
export function readContent(message) {
  try {
    const content = JSON.parse(message.content);
    return typeof content.content === 'string' ? content.content : null;
  } catch {
    return null;
  }
}
