// Setting an operator's password: one's own, or another's by who administers.

import { h } from './dom.js';
import { api, path, wrongField } from './api.js';
import { t } from './text.js';
import { session } from './session.js';
import { field, formDialog, toast } from './widgets.js';

const LEAST = 12;

function passwordInput(autocomplete) {
  return h('input', { type: 'password', autocomplete, required: true, maxlength: 256 });
}

/** Asks for the operator's own password, for what opens something for longer than a session, and sends that again with it. */
export function askPassword(repeat) {
  const own = passwordInput('current-password');
  const fields = { own_password: field({ label: t('password.own'), input: own, wide: true }) };
  return formDialog({
    title: t('password.confirm'), action: t('password.confirmed'), fields, content: [h('p', t('password.why')), Object.values(fields)],
    send: () => repeat(own.value),
  });
}

/** Resolves with true once it is set. The operator's other sessions end. */
export async function changePassword({ name, isOwn = false }) {
  const old = passwordInput('current-password');
  const fresh = passwordInput('new-password');
  const fields = {
    ...(isOwn && session.hasPassword ? { old_password: field({ label: t('password.old'), input: old, wide: true }) } : {}),
    password: field({ label: t('password.new'), hint: t('password.hint'), input: fresh, wide: true }),
  };
  const done = await formDialog({
    title: isOwn ? t(session.hasPassword ? 'password.change' : 'password.set') : t('password.ofName', { name }), action: t('frame.save'), fields,
    content: [Object.values(fields), h('p.quiet', t('password.ends'))],
    send: async () => {
      if ([...fresh.value].length < LEAST) throw wrongField('password', t('password.hint'));
      try {
        await api.put(path`/v1/operators/${name}/password`, { password: fresh.value, ...(fields.old_password ? { old_password: old.value } : {}) });
      } catch (problem) {
        throw problem.code === 'wrong_password' ? Object.assign(problem, { field: 'old_password' }) : problem;
      }
    },
  });
  if (done && isOwn) session.hasPassword = true;
  if (done) toast(t('password.done'));
  return done;
}
