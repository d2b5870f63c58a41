// Setting an operator's password: one's own, or another's by who administers.

import { h } from './dom.js';
import { api, path } from './api.js';
import { t } from './text.js';
import { session } from './session.js';
import { button, field, openDialog, showRefusal, toast } from './widgets.js';

const LEAST = 12;

function passwordInput(autocomplete) {
  return h('input', { type: 'password', autocomplete, required: true, maxlength: 256 });
}

/** Resolves with true once it is set. The operator's other sessions end. */
export function changePassword({ name, isOwn = false }) {
  const old = passwordInput('current-password');
  const fresh = passwordInput('new-password');
  const fields = { password: field({ label: t('password.new'), hint: t('password.hint'), input: fresh, wide: true }) };
  if (isOwn && session.hasPassword) fields.old_password = field({ label: t('password.old'), input: old, wide: true });
  return openDialog({
    title: isOwn ? t(session.hasPassword ? 'password.change' : 'password.set') : t('password.ofName', { name }),
    make: (close) => {
      const refusal = h('div');
      return h('form', {
        novalidate: true,
        on: {
          submit: async (event) => {
            event.preventDefault();
            fields.password.fail([...fresh.value].length >= LEAST ? '' : t('password.hint'));
            if ([...fresh.value].length < LEAST) return fresh.focus();
            try {
              await api.put(path`/v1/operators/${name}/password`, { password: fresh.value, ...(fields.old_password ? { old_password: old.value } : {}) });
              if (isOwn) session.hasPassword = true;
              close(true);
              toast(t('password.done'));
            } catch (problem) {
              showRefusal(refusal, problem.code === 'wrong_password' ? Object.assign(problem, { field: 'old_password' }) : problem, fields);
            }
            return undefined;
          },
        },
      }, fields.old_password ?? null, fields.password, h('p.quiet', t('password.ends')), refusal,
      h('div.dialog-actions', button({ label: t('frame.cancel'), onClick: () => close() }), button({ label: t('frame.save'), kind: 'primary', type: 'submit' })));
    },
  });
}
