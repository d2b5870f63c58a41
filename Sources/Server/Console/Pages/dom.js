// Makes elements. Strings become text, never markup, so whatever a stranger wrote is shown as it is.

const SVG = 'http://www.w3.org/2000/svg';

function isPlain(value) {
  return value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof Node);
}

function appendChildren(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === '') continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

function setProperties(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'on') {
      for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    } else if (name === 'class') {
      for (const part of value.split(' ')) if (part) element.classList.add(part);
    } else if (name === 'vars') {
      // The object model may set styles where the policy forbids the attribute.
      for (const [variable, text] of Object.entries(value)) element.style.setProperty(variable, text);
    } else if (name === 'value' && 'value' in element) {
      element.value = value;
    } else {
      element.setAttribute(name, value === true ? '' : value);
    }
  }
}

function build(make, tag, rest) {
  const [name, ...classes] = tag.split('.');
  const element = make(name);
  for (const part of classes) element.classList.add(part);
  const properties = isPlain(rest[0]) ? rest[0] : null;
  const children = properties ? rest.slice(1) : rest;
  // A select takes its value only once it has its options.
  if (name === 'select') appendChildren(element, children);
  if (properties) setProperties(element, properties);
  if (name !== 'select') appendChildren(element, children);
  return element;
}

/** An HTML element: `h('div.card', {on: {click}}, 'text', child)`. */
export function h(tag, ...rest) {
  return build((name) => document.createElement(name), tag, rest);
}

/** An SVG element, the same way. */
export function s(tag, ...rest) {
  return build((name) => document.createElementNS(SVG, name), tag, rest);
}

/** A text that somebody wrote: its direction stays its own. */
export function bdi(text) {
  return h('bdi', String(text));
}

let ids = 0;

/** An id for labels and descriptions. */
export function makeId(prefix = 'x') {
  ids += 1;
  return `${prefix}-${ids}`;
}

const styles = new Set();

/** Loads a style sheet once; resolves when it holds. */
export function loadStyle(name) {
  if (styles.has(name)) return Promise.resolve();
  styles.add(name);
  return new Promise((resolve) => {
    document.head.append(h('link', { rel: 'stylesheet', href: name, on: { load: resolve, error: resolve } }));
  });
}

const PATHS = {
  overview: 'M3 12h4l2.500-7 5 14 2.500-7h4',
  messages: 'M4 5h16v11H9l-5 4z',
  people: 'M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM2.500 20c.6-4 3-6 6.500-6s5.900 2 6.500 6M16 4.500a3.500 3.500 0 0 1 0 6.500M18 14.500c2 .7 3.200 2.500 3.500 5.500',
  conversations: 'M3 4h12v8H8l-5 4zM9 15v2h7l5 4V9h-3',
  compose: 'M4 20l1-4.500L16 4.500l3.500 3.500L8.500 19zM13.500 7l3.500 3.500',
  credentials: 'M14.500 9.500a4.500 4.500 0 1 0-4 4.470L12 15.500h2V18h2.500v2.500H21V17l-6.700-6.600a4.500 4.500 0 0 0 .2-.9zM8.500 8h.01',
  webhooks: 'M4 12h11M11 7.500l4.500 4.500-4.500 4.500M14 4h6v16h-6',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 4.500v5M9 14.500v5',
  apps: 'M4 4h6.500v6.500H4zM13.500 4H20v6.500h-6.500zM4 13.500h6.500V20H4zM13.500 13.500H20V20h-6.500z',
  operators: 'M12 3l7.500 3v5.500c0 4.500-3 7.800-7.500 9.500-4.500-1.700-7.500-5-7.500-9.500V6zM9 12l2.200 2.200L15.500 10',
  api: 'M8 6.500L2.500 12 8 17.500M16 6.500l5.500 5.500-5.500 5.500M13.500 5l-3 14',
  audit: 'M6 3.500h9l4 4V20.500H6zM9 11h6M9 15h6',
  phones: 'M7 3h10v18H7zM11 18h2',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6L6 18',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  check: 'M5 12.500l4.500 4.500L19 7.500',
  search: 'M10.500 17a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13zM15.500 15.500L20.500 20.500',
  chevron: 'M9 5l7 7-7 7',
  more: 'M6 9l6 6 6-6',
  theme: 'M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16',
  language: 'M12 3.500a8.500 8.500 0 1 0 0 17 8.500 8.500 0 0 0 0-17zM3.500 12h17M12 3.500c-5 5-5 12 0 17M12 3.500c5 5 5 12 0 17',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.500 20.500c.8-4.500 3.500-6.500 7.500-6.500s6.700 2 7.500 6.500',
  device: 'M7 2.500h10v19H7zM10.500 18.500h3',
  plus: 'M12 5v14M5 12h14',
  warning: 'M12 4l9 16H3zM12 10v4.500M12 17.500v.01',
  info: 'M12 3.500a8.500 8.500 0 1 0 0 17 8.500 8.500 0 0 0 0-17zM12 11v5.500M12 7.500v.01',
  upload: 'M12 16V4.500M7 9l5-5 5 5M4 16v4h16v-4',
  clock: 'M12 3.500a8.500 8.500 0 1 0 0 17 8.500 8.500 0 0 0 0-17zM12 7v5l3.500 2',
  bell: 'M6 16V11a6 6 0 0 1 12 0v5l1.500 2h-15zM10 20.500h4',
  eye: 'M2.500 12c2.500-4.500 5.500-6.500 9.500-6.500s7 2 9.500 6.500c-2.500 4.500-5.500 6.500-9.500 6.500s-7-2-9.500-6.500zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
  leave: 'M10 4H5v16h5M15 8l4 4-4 4M19 12H9',
};

/** One of the console's icons; it says nothing by itself, so the words stand beside it. */
export function icon(name) {
  return s('svg.icon', { viewBox: '0 0 24 24', 'aria-hidden': 'true', focusable: 'false' }, s('path', { d: PATHS[name] }));
}

// A shape for each state, so that no colour is needed to tell them apart.
const SHAPES = {
  good: [['circle', { cx: 8, cy: 8, r: 5, class: 'full' }]],
  wait: [['circle', { cx: 8, cy: 8, r: 5 }], ['path', { d: 'M8 3a5 5 0 0 0 0 10z', class: 'full' }]],
  bad: [['path', { d: 'M4 4l8 8M12 4l-8 8' }]],
  quiet: [['circle', { cx: 8, cy: 8, r: 5 }]],
  info: [['path', { d: 'M8 2.500L13.500 8 8 13.500 2.500 8z' }]],
};

/** The shape of a state: good ●, wait ◐, bad ✕, quiet ○, info ◇. */
export function shape(kind) {
  return s(`svg.shape.shape-${kind}`, { viewBox: '0 0 16 16', 'aria-hidden': 'true', focusable: 'false' },
    SHAPES[kind].map(([tag, properties]) => s(tag, properties)));
}
