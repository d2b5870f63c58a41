// Draws a tree of values into the page and changes only what differs, so that focus, typed text and places of scrolling outlive the next
// drawing. A phone tells its whole screen at every change.

const SVG = 'http://www.w3.org/2000/svg';

function isPlain(value) {
  return value !== null && typeof value === 'object' && !Array.isArray(value) && !value.isNode;
}

/** A value for an element: `v('div.row', {key, class, on: {click}, 'aria-label': …}, …children)`. Strings become text. */
export function v(tag, ...rest) {
  const [name, ...classes] = tag.split('.');
  const properties = isPlain(rest[0]) ? rest[0] : {};
  const children = (isPlain(rest[0]) ? rest.slice(1) : rest).flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false && child !== '');
  const { key, class: more, ...others } = properties;
  return { isNode: true, name, key, className: [...classes, ...(more ? more.split(' ') : [])].filter(Boolean).join(' '), properties: others,
    children };
}

/** The same for SVG. */
export function vs(tag, ...rest) {
  return { ...v(tag, ...rest), isSVG: true };
}

function dispatch(event) {
  event.currentTarget.phoneHandlers[event.type]?.(event);
}

function applyHandlers(element, handlers) {
  element.phoneHandlers ??= {};
  for (const type of Object.keys(handlers)) {
    if (!(type in element.phoneHandlers)) element.addEventListener(type, dispatch, { passive: type === 'wheel' || type.startsWith('touch') });
  }
  for (const type of Object.keys({ ...element.phoneHandlers, ...handlers })) element.phoneHandlers[type] = handlers[type];
}

/** What is typed is the person's until the app has answered: only a text that has changed since is taken over. */
function applyValue(element, value) {
  if (element.phoneValue === value) return;
  element.phoneValue = value;
  if (element.phoneIsTyped || element.value === value) return;
  element.value = value;
}

function applyProperties(element, before, after) {
  for (const name of Object.keys(before)) {
    if (name in after || name === 'on' || name === 'vars' || name === 'value') continue;
    element.removeAttribute(name);
  }
  for (const [name, value] of Object.entries(after)) {
    if (name === 'on') continue;
    if (name === 'value') applyValue(element, value);
    else if (name === 'vars') for (const [variable, text] of Object.entries(value)) element.style.setProperty(variable, text);
    else if (before[name] === value) continue;
    else if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? '' : value);
  }
  applyHandlers(element, after.on ?? {});
}

function make(node) {
  if (!node.isNode) return document.createTextNode(String(node));
  const element = node.isSVG ? document.createElementNS(SVG, node.name) : document.createElement(node.name);
  if (node.className) element.setAttribute('class', node.className);
  applyProperties(element, {}, node.properties);
  patch(element, node.children);
  element.phoneNode = node;
  return element;
}

function update(element, node) {
  if (!node.isNode) {
    if (element.data !== String(node)) element.data = String(node);
    return;
  }
  const before = element.phoneNode;
  if (before === node) return;
  if (before.className !== node.className) element.setAttribute('class', node.className);
  applyProperties(element, before.properties, node.properties);
  patch(element, node.children);
  element.phoneNode = node;
}

function nameOf(node, places) {
  if (!node.isNode) return `text:${(places.text = (places.text ?? 0) + 1)}`;
  if (node.key !== undefined) return `key:${node.name}:${node.key}`;
  return `${node.name}:${(places[node.name] = (places[node.name] ?? 0) + 1)}`;
}

/** Makes the children of an element what the values say. */
export function patch(parent, nodes) {
  const old = parent.phoneChildren ?? new Map();
  const now = new Map();
  const places = {};
  for (const node of nodes) {
    let name = nameOf(node, places);
    while (now.has(name)) name += '+';
    const element = old.get(name);
    if (element) update(element, node);
    now.set(name, element ?? make(node));
  }
  for (const [name, element] of old) if (!now.has(name)) element.remove();
  let next = parent.firstChild;
  for (const element of now.values()) {
    if (element === next) next = next.nextSibling;
    else parent.insertBefore(element, next);
  }
  parent.phoneChildren = now;
}
