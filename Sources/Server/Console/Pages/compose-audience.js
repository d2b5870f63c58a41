// Whom a push is for, with how many they are, and when it goes.

import { h, makeId } from './dom.js';
import { api, path } from './api.js';
import { t, tn } from './text.js';
import { card, field, textInput, checkbox, disclosure, problemBox } from './widgets.js';

/** A choice of which one is taken, shown beside one another. */
export function segments(legend, options, chosen, onChange) {
  const name = makeId('segment');
  return h('fieldset', h('legend', legend), h('div.segments', options.map(([value, label]) => h('label',
    h('input', { type: 'radio', name, value, checked: value === chosen, on: { change: () => onChange(value) } }), h('span', label)))));
}

/** The line of how many an audience has; `ask` counts anew, after a pause. */
function audienceCount(page, draft) {
  const count = h('p.count', { 'aria-live': 'polite' });
  let timer = null;
  let turn = 0;
  page.onLeave(() => clearTimeout(timer));
  const ask = () => {
    clearTimeout(timer);
    const mine = ++turn;
    const { audience } = draft;
    Object.assign(draft, { people: undefined, devices: undefined });
    if (!audience) {
      count.replaceChildren(h('span.quiet', t('compose.nobodyYet')));
      return;
    }
    timer = setTimeout(async () => {
      try {
        const { people, devices } = await api.get(path`/v1/apps/${page.app}/pushes/count`, { audience: JSON.stringify(audience) }, { signal: page.signal });
        if (mine !== turn) return;
        Object.assign(draft, { people, devices });
        count.replaceChildren(h('strong', tn('compose.reaches', people)), devices === undefined ? '' : ` · ${tn('compose.onDevices', devices)}`, h('span.quiet', ` ${t('compose.reachesNote')}`));
      } catch (problem) {
        if (problem.name === 'AbortError' || mine !== turn) return;
        draft.people = null;
        count.replaceChildren(problem.code === 'missing_role' ? h('span.quiet', t('compose.countHidden', { role: t(`role.${problem.rule.split(' ').at(-1)}`) })) : problemBox(problem));
      }
    }, 300);
  };
  return { count, ask };
}

export function audienceCard(page, draft, changed) {
  const { count, ask } = audienceCount(page, draft);
  const box = h('div.stack');
  const enter = (kind, text) => {
    draft.audienceEntries[kind] = text;
    changed();
    ask();
  };
  const line = (kind, hint) => {
    const input = textInput({ name: `audience-${kind}`, value: draft.audienceEntries[kind] ?? '', on: { input: () => enter(kind, input.value) } });
    return field({ label: t(`compose.audience.${kind}`), hint, input });
  };
  const shown = {
    everybody: () => h('p', t('compose.everybodyText')),
    users: () => line('users', t('person.wordsHint')),
    tag: () => line('tag', t('compose.tagHint')),
    alias: () => line('alias', null),
    json: () => {
      const input = h('textarea', {
        class: 'mono', rows: 4, spellcheck: 'false', placeholder: '{"all": [{"tag": "shoes"}, {"not": {"tag": "quiet"}}]}',
        on: {
          input: () => {
            enter('json', input.value);
            entry.fail(input.value && !draft.audience ? t('compose.jsonWrong') : '');
          },
        },
      });
      input.value = draft.audienceEntries.json ?? '';
      const entry = field({ label: t('compose.audience.json'), hint: t('compose.jsonHint'), input });
      return entry;
    },
  };
  const choose = (kind) => {
    draft.audienceKind = kind;
    box.replaceChildren(shown[kind]());
    changed();
    ask();
  };
  const choices = Object.keys(shown).map((key) => [key, t(`compose.for.${key}`)]);
  const whole = card({ title: t('pushes.audience') }, segments(t('compose.whom'), choices, draft.audienceKind, choose), box, count);
  choose(draft.audienceKind);
  return whole;
}

/** How fast, for how long, in whose name. */
function moreOptions(draft, set) {
  const tick = (name) => checkbox(t(`compose.${name}`), draft[name] ?? false, { on: { change: set(name, (input) => input.checked) } });
  const [conversation, counted] = [tick('conversation'), tick('counted')];
  const follow = () => { counted.hidden = !conversation.input.checked; };
  conversation.addEventListener('change', follow);
  follow();
  const lists = draft.what === 'custom' ? [] : [conversation, counted];
  const more = disclosure(t('compose.more'), h('div.form',
    field({ label: t('compose.rate'), hint: t('compose.rateHint'), optional: true, input: h('input', { type: 'number', min: 1, max: 1_000_000, value: draft.rate ?? '', on: { input: set('rate') } }) }),
    field({ label: t('compose.lifetime'), hint: t('compose.lifetimeHint'), optional: true, input: h('input', { type: 'number', min: 1, max: 720, value: draft.lifetime ?? '', on: { input: set('lifetime') } }) }),
    field({ label: t('push.account'), hint: t('compose.accountHint'), optional: true, input: textInput({ placeholder: 'MP news', value: draft.accountText ?? '', on: { input: set('accountText') } }) }),
    h('div.form-row', lists,
      checkbox(t('compose.ignoresBlocks'), draft.ignoresBlocks ?? false, { on: { change: set('ignoresBlocks', (input) => input.checked) } }))));
  // What was set is seen.
  more.open = Boolean(draft.rate || draft.lifetime || draft.accountText || draft.conversation || draft.counted || draft.ignoresBlocks);
  return more;
}

export function scheduleCard(draft, changed) {
  const box = h('div.form');
  const set = (name, read = (input) => input.value) => (event) => { draft[name] = read(event.target); changed(); };
  const time = (name, key) => h('input', { type: 'datetime-local', name, value: draft[key] ?? '', on: { input: set(key) } });
  const shown = {
    now: () => [],
    at: () => [field({ label: t('compose.at'), hint: t('compose.atHint'), input: time('send_at', 'at') })],
    local: () => {
      draft.zone ??= Intl.DateTimeFormat().resolvedOptions().timeZone;
      return [
        field({ label: t('compose.local'), hint: t('compose.localHint'), input: time('send_at_local', 'local') }),
        field({ label: t('compose.zone'), hint: t('compose.zoneHint'), input: textInput({ value: draft.zone, name: 'time_zone', on: { input: set('zone') } }) }),
      ];
    },
  };
  const choose = (when) => {
    draft.when = when;
    box.replaceChildren(...shown[when]());
    changed();
  };
  const choices = Object.keys(shown).map((key) => [key, t(`compose.when.${key}`)]);
  const whole = card({ title: t('compose.schedule') }, segments(t('compose.whenLegend'), choices, draft.when, choose), box, moreOptions(draft, set));
  choose(draft.when);
  return whole;
}
