// Ctrl-K: one field over everything. Ids of messages and pushes, people, apps, pages and operations of the API, chosen by keyboard.

import { h, bdi, makeId } from './dom.js';
import { api, path } from './api.js';
import { t, tx } from './text.js';
import { addressOf, go } from './address.js';
import { openDialog, textInput } from './widgets.js';

const ID = /^[0-9a-hjkmnp-tv-z]{13}$/;
/** So many are offered. */
const MOST = 12;

/** Returns everything with a name of its own: `{words, href, kind}`. */
function pagesOf({ app, apps, navigation }) {
  const page = (entry, parts) => ({ words: t(`nav.${entry.key}`), kind: t('quick.page'), href: addressOf(...parts) });
  return [
    ...(app ? navigation.app.map((entry) => page(entry, ['apps', app, ...entry.parts])) : []),
    ...(app ? [
      { words: t('overview.why'), kind: t('quick.page'), href: addressOf('apps', app, 'messages', { find: 'person' }) },
      { words: t('pushes.new'), kind: t('quick.page'), href: addressOf('apps', app, 'pushes', 'new') },
    ] : []),
    ...navigation.server.map((entry) => page(entry, entry.parts)),
    ...apps.map((each) => ({ words: each.settings?.name || each.id, more: each.id, kind: t('frame.app'), href: addressOf('apps', each.id) })),
  ];
}

function fits(item, text) {
  return `${item.words} ${item.more ?? ''}`.toLowerCase().includes(text.toLowerCase());
}

/** Returns what an entry may mean, the likeliest first. */
function find(context, people, operations, text) {
  const { app } = context;
  const person = (user) => ({ words: user, kind: t('quick.person'), href: addressOf('apps', app, 'people', user) });
  if (!text) return pagesOf(context).slice(0, MOST);
  const found = [];
  if (app && ID.test(text.toLowerCase())) {
    const id = text.toLowerCase();
    found.push({ words: id, kind: t('message.id'), href: addressOf('apps', app, 'messages', id) }, { words: id, kind: t('quick.push'), href: addressOf('apps', app, 'pushes', id) });
  }
  const own = people.filter((user) => user.toLowerCase().includes(text.toLowerCase()));
  found.push(...own.sort((a, b) => Number(b.startsWith(text)) - Number(a.startsWith(text))).map(person), ...[...pagesOf(context), ...operations].filter((item) => fits(item, text)));
  // There may be more people than were looked through.
  if (app && !/\s/.test(text) && !own.includes(text) && !ID.test(text.toLowerCase())) found.push({ ...person(text), kind: t('quick.anyPerson') });
  return found.slice(0, MOST);
}

/** Opens the field. `app` is the one that is looked at, `apps` all, `navigation` the entries beside the pages. */
export function openQuick(context) {
  let people = [];
  let operations = null;
  return openDialog({
    title: t('quick.title'),
    className: 'quick',
    make: (close) => {
      const listId = makeId('quick');
      const input = textInput({ type: 'search', name: 'quick', role: 'combobox', 'aria-expanded': 'true', 'aria-controls': listId, 'aria-autocomplete': 'list', 'aria-label': t('quick.title'), placeholder: t('quick.hint') });
      const list = h('ul.quick-list', { id: listId, role: 'listbox', 'aria-label': t('quick.title') });
      const told = h('p.quiet', { role: 'status' });
      let items = [];
      let chosen = 0;
      const choose = (index) => {
        chosen = items.length ? (index + items.length) % items.length : 0;
        [...list.children].forEach((option, each) => option.setAttribute('aria-selected', String(each === chosen)));
        const option = list.children[chosen];
        option ? input.setAttribute('aria-activedescendant', option.id) : input.removeAttribute('aria-activedescendant');
        option?.scrollIntoView({ block: 'nearest' });
      };
      const open = (item) => {
        close();
        go(item.href);
      };
      const show = () => {
        items = find(context, people, operations ?? [], input.value.trim());
        list.replaceChildren(...items.map((item, index) => h('li.quick-item', { role: 'option', id: `${listId}-${index}`, 'aria-selected': 'false', on: { click: () => open(item), pointermove: () => { if (chosen !== index) choose(index); } } },
          h('span', bdi(item.words)), h('span.quiet', item.kind))));
        told.replaceChildren(...(items.length ? [] : tx('quick.none', { text: input.value.trim() })));
        choose(0);
      };
      input.addEventListener('input', async () => {
        show();
        if (operations) return;
        operations = [];
        try { operations = await (await import('./page-api.js')).findOperations(); } catch { /* The others are found all the same. */ }
        const before = chosen;
        show();
        choose(before);
      });
      input.addEventListener('keydown', (event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step) {
          event.preventDefault();
          choose(chosen + step);
        } else if (event.key === 'Enter' && items[chosen]) {
          event.preventDefault();
          open(items[chosen]);
        } else if (event.key === 'Escape') {
          // The browser would only empty the field.
          event.preventDefault();
          close();
        }
      });
      show();
      if (context.app) {
        api.get(path`/v1/apps/${context.app}/users`, { limit: 100 }).then(({ users }) => {
          people = users.map((user) => user.id);
          if (input.value.trim()) show();
        }, () => { /* Ids are found all the same. */ });
      }
      // The dialog gives the focus to its first button.
      requestAnimationFrame(() => input.focus());
      return h('div', input, list, told);
    },
  });
}
