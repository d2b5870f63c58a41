// What stands in a row of an app's table, in its order, as the terminal reads it too: a portrait, a text with a short note at its right, the
// signs and numbers that follow, and of a message its bubble.

/** What is written on a view or said of it. */
export function readWords(node) {
  return node.text ?? node.label ?? '';
}

export function takes(node, type, direction) {
  return node.actions.some((action) => action.type === type && (direction === undefined || action.direction === direction));
}

/** All that is written in a view, in order. */
export function readTexts(node) {
  return [...(node.text ? [node.text] : []), ...node.children.flatMap(readTexts)];
}

/** A row is an own message or another person's by the names its code gave its views. */
export function findSide(node) {
  if (node.identifier?.startsWith('outgoing')) return 'out';
  if (node.identifier?.startsWith('incoming')) return 'in';
  for (const child of node.children) {
    const side = findSide(child);
    if (side) return side;
  }
  return null;
}

const HOLDERS = new Set(['window', 'group', 'table', 'row', 'header', 'navigationBar', 'tabBar', 'alert', 'menu']);

function addItems(nodes, found) {
  for (const node of nodes) {
    if (node.role === 'image') {
      if (!found.items.length && !found.portrait) found.portrait = node;
      else found.items.push({ kind: 'image', name: node.identifier ?? '', words: readWords(node) });
    } else if (node.role === 'text') {
      if (readWords(node)) found.items.push({ kind: node.identifier === 'quote' ? 'quote' : 'text', words: readWords(node) });
    } else if (HOLDERS.has(node.role)) {
      if (!node.children.length && readWords(node)) found.items.push({ kind: 'text', words: readWords(node) });
      addItems(node.children, found);
    } else if (!node.children.length || node.role === 'button') {
      found.items.push({ kind: 'thing', node });
    } else {
      addItems(node.children, found);
    }
  }
}

/** Buttons that a swipe has brought to the side of a row: VoiceOver has them by the same names. */
export function findSideButtons(row) {
  return row.children.filter((child) => child.role === 'button' && row.actions.some((action) => action.type === 'named' && action.name === child.text));
}

/** What is in a row: `{portrait, items}`, without what a swipe has brought to its side. */
export function readRow(row) {
  const found = { portrait: null, items: [] };
  const side = findSideButtons(row);
  addItems(row.children.filter((child) => !side.includes(child)), found);
  if (!found.items.length && readWords(row)) found.items.push({ kind: 'text', words: readWords(row) });
  return found;
}

/** Columns as a terminal counts them: a sign of East Asia takes two. */
function countColumns(text) {
  let count = 0;
  for (const sign of text) count += /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\u{1f300}-\u{1faff}]/u.test(sign) ? 2 : 1;
  return count;
}

const NOTE_COLUMNS = 10;
const VALUE_COLUMNS = 20;

/** A row of a list as lines: each a text, with what stands at its right. */
export function readLines({ portrait, items }) {
  const isTitleAndValue = !portrait && items.filter((item) => item.kind === 'text').length === 2;
  const room = isTitleAndValue ? VALUE_COLUMNS : NOTE_COLUMNS;
  const lines = [];
  for (const item of items) {
    const last = lines.at(-1);
    if (item.kind === 'text') {
      if (last && !last.hasNote && countColumns(item.words) <= room) {
        last.right.push(item);
        last.hasNote = true;
      } else {
        lines.push({ words: item.words, right: [], hasNote: false });
      }
    } else if (item.kind === 'quote') {
      lines.push({ words: item.words, right: [], hasNote: false });
    } else if (last) {
      last.right.push(item);
    } else {
      lines.push({ words: item.kind === 'image' ? item.words : '', right: item.kind === 'image' ? [] : [item], hasNote: false });
    }
  }
  return lines;
}

/** `9:41`, `上午9:41`. */
export function isTime(text) {
  return countColumns(text) <= NOTE_COLUMNS && /^[^:]*\d:\d\d[^:]*$/.test(text);
}

/** A message: its parts above each other, and its time with what follows it. */
export function readBubble({ portrait, items }) {
  const parts = [];
  const marks = [];
  const texts = items.filter((item) => item.kind === 'text');
  // Alone, an image is no portrait but what the message says.
  const isPhoto = portrait && !items.some((item) => item.kind === 'image') && texts.length === 1 && isTime(texts[0].words);
  if (isPhoto) parts.push({ kind: 'image', name: portrait.identifier ?? '', words: readWords(portrait) });
  const time = items.findLastIndex((item) => item.kind === 'text' && isTime(item.words));
  items.forEach((item, index) => (time >= 0 && index >= time && parts.length ? marks : parts).push(item));
  return { parts, marks };
}
