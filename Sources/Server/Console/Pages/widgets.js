// What pages are made of.

import { h, icon, shape, bdi, makeId } from './dom.js';
import { t, tx, hasText, duration } from './text.js';
import { session, may } from './session.js';
import { wrongField } from './api.js';

/** The head of a page: its heading gets the focus when somebody comes here. */
export function pageHead({ title, lead, actions, crumbs }) {
  return h('header.page-head',
    crumbs ? h('nav.crumbs', { 'aria-label': t('frame.crumbs') }, crumbs.map(([label, href]) => h('a', { href }, label))) : null,
    h('div.page-head-row',
      h('div.page-head-words', h('h1', { tabindex: '-1' }, title), lead ? h('p.lead', lead) : null),
      actions ? h('div.actions', actions) : null));
}

/** A box with a heading. `actions` stand beside it. */
export function card({ title, actions, lead, level = 2, className = '' }, ...children) {
  const id = makeId('card');
  return h('section.card', { class: className, 'aria-labelledby': title ? id : null },
    title ? h('div.card-head', h(`h${level}`, { id }, title), actions ? h('div.actions', actions) : null) : null,
    lead ? h('p.card-lead', lead) : null,
    ...children);
}

/** A state: a shape and a word. */
export function chip(kind, label, title) {
  return h(`span.chip.chip-${kind}`, { title }, shape(kind), h('span', label));
}

let announcer = null;

export function setAnnouncer(element) {
  announcer = element;
}

/** Says something to who cannot see it. */
export function announce(text) {
  if (!announcer) return;
  announcer.textContent = '';
  requestAnimationFrame(() => { announcer.textContent = text; });
}

/** A short word at the edge of the screen that goes by itself. */
export function toast(text, kind = 'good') {
  const box = document.getElementById('toasts');
  if (!box) return;
  const note = h(`div.toast.toast-${kind}`, shape(kind), h('span', text));
  box.append(note);
  setTimeout(() => note.remove(), 6_000);
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without a secure origin there is no clipboard but the old way.
    const area = h('textarea', { class: 'off-screen', 'aria-hidden': 'true', tabindex: '-1' });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}

/** A button that copies a text, and says that it did. */
export function copyButton(text, label = t('frame.copy')) {
  const button = h('button.icon-button.copy', {
    type: 'button', 'aria-label': label, title: label,
    on: {
      click: async (event) => {
        event.preventDefault();
        event.stopPropagation();
        await copyText(text);
        button.replaceChildren(icon('check'));
        announce(t('frame.copied'));
        setTimeout(() => button.replaceChildren(icon('copy')), 1_500);
      },
    },
  }, icon('copy'));
  return button;
}

export function shortId(id) {
  return id.length <= 14 ? id : `${id.slice(0, 6)}…${id.slice(-4)}`;
}

/** An id, shortened; the whole of it is in the title and behind the button. */
export function idChip(id, { href, whole = false } = {}) {
  const shown = h('code', { title: id }, whole ? id : shortId(id));
  return h('span.id', href ? h('a', { href }, shown) : shown, copyButton(id, t('frame.copyId', { id: shortId(id) })));
}

/** Something for a shell, or a payload, with a button that copies it. */
export function codeBlock(text, label) {
  return h('div.code', h('pre', { tabindex: '0', role: 'region', 'aria-label': label }, text), copyButton(text));
}

/** Folded away until somebody asks for it. */
export function disclosure(summary, ...children) {
  return h('details.disclosure', h('summary', summary), h('div.disclosure-body', ...children));
}

export function curlBlock(text) {
  return disclosure(t('frame.asCurl'), codeBlock(text, t('frame.asCurl')));
}

/** What stands where there is nothing yet: what that means, and what to do next. */
export function emptyState({ title, text, action, code }) {
  return h('div.empty', h('p.empty-title', title), text ? h('p', text) : null,
    action ? h('div.actions', action) : null, code ? codeBlock(code, t('frame.asCurl')) : null);
}

/** Grey lines where something will stand in a moment. */
export function skeleton(lines = 3) {
  return h('div.skeleton', { role: 'status', 'aria-label': t('frame.loading') },
    Array.from({ length: lines }, () => h('span')));
}

/** What to do about a problem, in words. */
export function adviceFor(problem) {
  if (problem.status === 429 || (problem.retryAfter && problem.status === 503)) {
    return t('problem.retryIn', { time: duration((problem.retryAfter ?? 1) * 1_000) });
  }
  for (const key of [`problem.${problem.code}`, `problem.status.${problem.status}`]) if (hasText(key)) return t(key, { role: problem.rule });
  return t('problem.other');
}

/** Trying again cannot help with these: something has to be changed first. */
const NOT_AGAIN = ['search_off', 'missing_role', 'console_off', 'unknown_host', 'app_suspended'];

/** A problem: what the server said, what to do, and the id under which its log knows it. */
export function problemBox(problem, retry) {
  if (!('code' in problem)) console.error(problem);
  return h('div.problem', { role: 'alert' },
    shape('bad'),
    h('div',
      h('p.problem-title', problem.detail ? bdi(problem.detail) : t('problem.title')),
      h('p', adviceFor(problem)),
      problem.requestId ? h('p.problem-id', t('problem.requestId'), ' ', idChip(problem.requestId)) : null,
      retry && !NOT_AGAIN.includes(problem.code) ? h('div.actions', button({ label: t('frame.retry'), onClick: retry })) : null));
}

/** A remark in the page: `kind` as of states. */
export function note(kind, ...children) {
  return h(`div.note.note-${kind}`, shape(kind), h('div', ...children));
}

/**
 * A button. With `role`, who may not use it sees it all the same, and is told why not: the caller puts `roleNote(role)` beside it, or
 * the button's own title says it.
 */
export function button({ label, onClick, kind = '', iconName, role, type = 'button', href, disabled = false, reason, label2 }) {
  const allowed = !role || may(role);
  const why = allowed ? reason : t('role.needed', { role: t(`role.${role}`), own: t(`role.${session.role}`) });
  const content = [iconName ? icon(iconName) : null, h('span', label)];
  const isOff = disabled || !allowed;
  if (href && !isOff) return h('a.button', { href, class: kind, 'aria-label': label2 }, content);
  const element = h('button.button', {
    type, class: kind, 'aria-disabled': isOff ? 'true' : null, title: isOff ? why : null, 'aria-label': label2,
    on: {
      click: async (event) => {
        if (element.getAttribute('aria-disabled') === 'true' || element.getAttribute('aria-busy') === 'true') {
          event.preventDefault();
          event.stopImmediatePropagation();
          if (element.getAttribute('aria-disabled') === 'true' && why) toast(why, 'info');
          return;
        }
        if (!onClick) return;
        element.setAttribute('aria-busy', 'true');
        try { await onClick(event); } finally { element.removeAttribute('aria-busy'); }
      },
    },
  }, content);
  return element;
}

/** Why something is not to be used here, for who has not the role; nothing for who has. */
export function roleNote(role) {
  if (may(role)) return null;
  return h('p.role-note', shape('info'), h('span', t('role.needed', { role: t(`role.${role}`), own: t(`role.${session.role}`) })));
}

/** A box whose table is wider than it is scrolled by keyboard, too; one that fits is no stop on the way. */
const scrolling = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute('tabindex');
  }
});

/**
 * A table. `columns`: `{key, label, cell(row), className}`; the first one names the row. Narrow screens show each row as a card, with
 * the column's name before each value; the roles keep it a table for who listens.
 */
export function table({ caption, columns, rows, empty, captionHidden = true, rowClass }) {
  if (!rows.length && empty) return empty;
  const cells = (row) => columns.map((column, index) => {
    const content = h('div.cell', column.cell(row));
    // A dash keeps a column in line; where a row is a card, it says nothing.
    return h(index === 0 ? 'th' : 'td', {
      role: index === 0 ? 'rowheader' : 'cell', scope: index === 0 ? 'row' : null, 'data-label': column.label,
      class: [column.className ?? '', content.textContent === '–' ? 'cell-dash' : ''].join(' ').trim(),
    }, content);
  });
  const box = h('div.table-box', { role: 'group', 'aria-label': caption }, h('table', { role: 'table' },
    h('caption', { class: captionHidden ? 'off-screen' : '' }, caption),
    h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, columns.map((column) =>
      h('th', { role: 'columnheader', scope: 'col', class: column.className ?? '' }, column.label)))),
    h('tbody', { role: 'rowgroup' }, rows.map((row) => h('tr', { role: 'row', class: rowClass?.(row) ?? '' }, cells(row))))));
  scrolling.observe(box);
  return box;
}

/** Names and values, one below the other. Pairs whose value is null are left out; a third member is a class. */
export function facts(pairs, className = '') {
  return h('dl.facts', { class: className }, pairs.filter((pair) => pair && pair[1] !== null && pair[1] !== undefined).map(([name, value, className]) =>
    h('div', { class: className }, h('dt', name), h('dd', value))));
}

/** An input with its label, and what to say of it. Returns the element; `input` and `fail(text)` belong to it. */
export function field({ label, hint, input, wide = false, optional = false, className = '' }) {
  const id = input.id || makeId('field');
  input.id = id;
  const hintId = `${id}-hint`;
  const errorId = `${id}-error`;
  const error = h('p.field-error', { id: errorId, hidden: true });
  const describe = (more) => {
    const ids = [hint ? hintId : null, more ? errorId : null].filter(Boolean).join(' ');
    ids ? input.setAttribute('aria-describedby', ids) : input.removeAttribute('aria-describedby');
  };
  const element = h('div.field', { class: `${wide ? 'field-wide' : ''} ${className}` },
    h('label', { for: id }, label, optional ? h('span.optional', ` ${t('frame.optional')}`) : null),
    input, hint ? h('p.field-hint', { id: hintId }, hint) : null, error);
  describe(false);
  element.input = input;
  element.fail = (text) => {
    error.hidden = !text;
    error.replaceChildren(...(text ? [shape('bad'), h('span', text)] : []));
    text ? input.setAttribute('aria-invalid', 'true') : input.removeAttribute('aria-invalid');
    describe(Boolean(text));
  };
  return element;
}

export function textInput(properties = {}) {
  return h('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', ...properties });
}

export function select(options, value, properties = {}) {
  return h('select', { value, ...properties }, options.map(([key, label]) => h('option', { value: key }, label)));
}

export function checkbox(label, checked = false, properties = {}) {
  const input = h('input', { type: 'checkbox', checked, ...properties });
  const element = h('label.check', input, h('span', label));
  element.input = input;
  return element;
}

/** Shows where a form was refused: beside the field the server named, and whole where there is none of that name. */
export function showRefusal(box, problem, fields = {}) {
  for (const each of Object.values(fields)) each?.fail?.('');
  const hit = problem.field && (fields[problem.field] ?? fields[problem.field.split('.').at(-1)]);
  if (hit?.fail) {
    hit.fail(problem.rule || problem.detail);
    hit.input.focus();
    box.replaceChildren();
  } else {
    box.replaceChildren(problemBox(problem));
  }
}

/** A dialog. `make(close)` gives its content; the promise resolves with what `close` was given, null if it was only closed. */
export function openDialog({ title, make, className = '' }) {
  return new Promise((resolve) => {
    const id = makeId('dialog');
    let result = null;
    const dialog = h('dialog.dialog', { class: className, 'aria-labelledby': id });
    const close = (value = null) => {
      result = value;
      dialog.close();
    };
    dialog.append(
      h('div.dialog-head', h('h2', { id }, title),
        h('button.icon-button', { type: 'button', 'aria-label': t('frame.close'), on: { click: () => close() } }, icon('close'))),
      h('div.dialog-body', make(close)));
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(result);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/**
 * A dialog with a form: what is asked, and a button that sends it. Resolves with what `send` gives (true for nothing), null if it was only
 * closed. A refusal is shown beside its field, and the dialog stays; `refuse` may deal with it first. With `stays` it is closed by hand:
 * `send` shows its answer in the box that it is given.
 */
export function formDialog({ title, action, content, fields = {}, send, refuse, stays = false, kind = 'primary' }) {
  return openDialog({
    title,
    make: (close) => {
      const told = h('div', { 'aria-live': 'polite' });
      const submit = button({ label: action, kind, type: 'submit' });
      return h('form', {
        novalidate: true,
        on: {
          submit: async (event) => {
            event.preventDefault();
            submit.setAttribute('aria-busy', 'true');
            try {
              const value = await send(told);
              if (!stays) close(value ?? true);
            } catch (problem) {
              if (!refuse?.(problem, told)) showRefusal(told, problem, fields);
            } finally {
              submit.removeAttribute('aria-busy');
            }
          },
        },
      }, content ?? Object.values(fields), told,
      h('div.dialog-actions', button({ label: t(stays ? 'frame.close' : 'frame.cancel'), onClick: () => close(stays || null) }), submit));
    },
  });
}

/** Returns the milliseconds of an input of type `datetime-local`; an empty text without one. */
export function timeOf(input) {
  return input.value ? new Date(input.value).getTime() : '';
}

/** Asks before something is lost. With `typed`, that has to be typed. Carries out `act`, and stays open with the problem if it is refused. */
export function confirmAction({ title, text, action, act, danger = true, typed, typedLabel }) {
  const input = typed ? textInput({ required: true }) : null;
  const label = typedLabel ?? t('frame.typeToConfirm', { word: typed });
  const fields = typed ? { typed: field({ label, input, wide: true }) } : {};
  return formDialog({
    title, action, fields, kind: danger ? 'danger' : 'primary', content: [h('p', text), Object.values(fields)],
    send: async () => {
      if (typed && input.value.trim() !== typed) throw wrongField('typed', t('frame.typeToConfirm', { word: typed }));
      return { value: await act() };
    },
  });
}

/** Shows a key or secret, which is told this once. */
export function showSecret({ title, text, secret }) {
  return openDialog({
    title,
    className: 'secret',
    make: (close) => h('div',
      note('wait', h('p', text)),
      codeBlock(secret, title),
      h('div.dialog-actions', button({ label: t('frame.secretKept'), kind: 'primary', onClick: () => close() }))),
  });
}

/** A place that loads: skeleton, then what `make` gives; a problem with a button to try again. */
export function loaded(signal, load, make, lines = 3) {
  const box = h('div.loaded');
  const run = async () => {
    box.replaceChildren(skeleton(lines));
    try {
      const answer = await load();
      if (signal?.aborted) return;
      box.replaceChildren(...[make(answer)].flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false));
    } catch (problem) {
      if (problem.name === 'AbortError' || signal?.aborted) return;
      box.replaceChildren(problemBox(problem, run));
    }
  };
  box.reload = run;
  run();
  return box;
}

/** A list that comes in pages: `fetchPage(cursor)` gives `{items, next}`, `make(items)` the table of all there are so far. */
export function pagedList(signal, fetchPage, make) {
  const box = h('div.paged');
  const items = [];
  const show = (next) => box.replaceChildren(make(items), next ? h('div.more', button({
    label: t('frame.more'), iconName: 'more',
    onClick: () => load(next),
  })) : '');
  const load = async (cursor) => {
    try {
      const page = await fetchPage(cursor);
      if (signal?.aborted) return;
      items.push(...page.items);
      show(page.next);
    } catch (problem) {
      if (problem.name === 'AbortError' || signal?.aborted) return;
      if (cursor) box.append(problemBox(problem, () => load(cursor)));
      else box.replaceChildren(problemBox(problem, () => load(null)));
    }
  };
  box.reload = () => {
    items.length = 0;
    box.replaceChildren(skeleton(5));
    return load(null);
  };
  box.reload();
  return box;
}

/** Choices of which one is shown. `tabs`: `[key, label, make]`. */
export function tabs({ label, tabs: all, chosen, onChoose }) {
  const panelId = makeId('panel');
  const panel = h('div.tab-panel', { id: panelId, role: 'tabpanel', tabindex: '0' });
  const buttons = all.map(([key, text, make]) => {
    const tab = h('button.tab', {
      type: 'button', role: 'tab', id: `${panelId}-${key}`, 'aria-controls': panelId, 'data-key': key,
      on: {
        click: () => choose(key),
        keydown: (event) => {
          const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          if (!step) return;
          event.preventDefault();
          const next = buttons[(buttons.indexOf(tab) + step + buttons.length) % buttons.length];
          choose(next.dataset.key);
          next.focus();
        },
      },
    }, text);
    tab.make = make;
    return tab;
  });
  const choose = (key, isFirst = false) => {
    for (const tab of buttons) {
      const isChosen = tab.dataset.key === key;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      if (isChosen) {
        panel.setAttribute('aria-labelledby', tab.id);
        panel.replaceChildren(...[tab.make()].flat(Infinity).filter(Boolean));
      }
    }
    if (!isFirst) onChoose?.(key);
  };
  choose(all.some(([key]) => key === chosen) ? chosen : all[0][0], true);
  const element = h('div.tabs', h('div.tab-list', { role: 'tablist', 'aria-label': label }, buttons), panel);
  element.choose = (key) => { if (buttons.find((tab) => tab.dataset.key === key).getAttribute('aria-selected') !== 'true') choose(key); };
  return element;
}

/** A person by their id, as a link to their page. */
export function personLink(app, user) {
  return h('a.person', { href: `#/apps/${encodeURIComponent(app)}/people/${encodeURIComponent(user)}` }, bdi(user));
}

/** A text whose marks and direction stay its own, with long words broken. */
export function strangerText(text) {
  return h('span.stranger', { dir: 'auto' }, text);
}

export { tx };
