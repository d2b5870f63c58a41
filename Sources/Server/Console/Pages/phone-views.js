// Finds views in an app's tree as a touch finds them: by what is written on them, what is said of them, or the code's name.

import { readTexts, takes } from './phone-rows.js';

/** Whether an app shows anything that can be drawn. */
export function hasContent(windows) {
  const says = (node) => (node.role !== 'window' && Boolean(node.text ?? node.label)) || node.children.some(says);
  return windows.some(says);
}

function findFirst(node, name) {
  for (let index = node.children.length - 1; index >= 0; index -= 1) {
    const found = findFirst(node.children[index], name);
    if (found) return found;
  }
  return [node.label, node.text, node.identifier].includes(name) ? node : null;
}

function isWithin(node, inner) {
  return node === inner || node.children.some((child) => isWithin(child, inner));
}

/** A name by which a touch finds this view and no other: what a person reads comes first, the code's own name last. */
export function nameView(windows, node) {
  const isField = takes(node, 'enter');
  const wanted = isField ? [node.label, node.identifier, node.text]
    : [node.text, ...node.children.flatMap(readTexts), node.label, node.identifier];
  const names = wanted.filter(Boolean);
  for (const name of names) {
    for (let index = windows.length - 1; index >= 0; index -= 1) {
      const found = findFirst(windows[index], name);
      if (!found) continue;
      if (isField ? found === node : isWithin(node, found)) return name;
      break;
    }
  }
  return names[0] ?? null;
}
