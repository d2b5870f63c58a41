// Templates: what a push says, under a name, kept in this browser until they are removed. Whom it is for and when it goes is no part of one.

import { h } from './dom.js';
import { t, readStored, writeStored } from './text.js';
import { button, disclosure, field, textInput, formDialog, toast, confirmAction } from './widgets.js';
import { wrongField } from './api.js';

const KEY = 'tidings.templates';
/** So many at most in an app: a browser keeps some megabytes for all. */
const MOST = 50;

function readAll() {
  try { return JSON.parse(readStored(KEY)) ?? {}; } catch { return {}; }
}

function templatesOf(app) {
  const templates = readAll()[app];
  return Array.isArray(templates) ? templates : [];
}

function write(app, templates) {
  return writeStored(KEY, JSON.stringify({ ...readAll(), [app]: templates.slice(0, MOST) }));
}

async function save(app, draft, done) {
  const name = textInput({ required: true, maxlength: 60, name: 'template' });
  await formDialog({
    title: t('templates.save'), action: t('frame.save'),
    fields: { template: field({ label: t('frame.name'), hint: t('templates.saveHint'), input: name, wide: true }) },
    send: () => {
      const called = name.value.trim();
      if (!called) throw wrongField('template', t('templates.nameMissing'));
      const kept = write(app, [{ name: called, what: draft.what, text: draft.text, options: draft.options }, ...templatesOf(app).filter((each) => each.name !== called)]);
      if (!kept) throw wrongField('template', t('templates.notKept'));
      toast(t('frame.saved'));
      done();
    },
  });
}

/** The templates of an app, to begin with and to keep what is written. `use(template)` fills the draft. */
export function templatesBox(app, draft, use) {
  const list = h('div.actions');
  const box = disclosure(t('templates.title'), h('p.quiet', t('templates.lead')), list,
    h('div.actions', button({ label: t('templates.save'), iconName: 'plus', kind: 'small', onClick: () => save(app, draft, show) })));
  const show = () => {
    const templates = templatesOf(app).filter((each) => each.what === draft.what);
    list.replaceChildren(...(templates.length ? templates.map((template) => h('span.template',
      button({ label: template.name, kind: 'small', label2: t('templates.use', { name: template.name }), onClick: () => use(template) }),
      button({
        label: '×', kind: 'small plain', label2: t('templates.remove', { name: template.name }),
        onClick: async () => {
          const isSure = await confirmAction({ title: t('templates.remove', { name: template.name }), text: t('templates.removeText'), action: t('frame.remove'), act: () => write(app, templatesOf(app).filter((each) => each.name !== template.name)) });
          if (isSure) show();
        },
      }))) : [h('span.quiet', t('templates.none'))]));
  };
  show();
  return box;
}
