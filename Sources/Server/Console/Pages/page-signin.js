// Signing in: with the link that a terminal has printed, or with name and password.

import { h, shape } from './dom.js';
import { t, duration } from './text.js';
import { signIn } from './session.js';
import { field, textInput, button, note, problemBox } from './widgets.js';

export default function open({ root, link, reason, done }) {
  document.title = `${t('signin.title')} · Tidings`;
  const refusal = h('div', { 'aria-live': 'polite' });
  let waiting = null;

  /** Says how long to wait, counts it down, and lets nobody try before. */
  function hold(seconds, submit) {
    clearInterval(waiting);
    const until = Date.now() + seconds * 1_000;
    const show = () => {
      const left = Math.ceil((until - Date.now()) / 1_000);
      if (left <= 0) {
        clearInterval(waiting);
        submit.removeAttribute('aria-disabled');
        refusal.replaceChildren();
        return;
      }
      refusal.replaceChildren(note('wait', h('p', t('signin.slowDown', { time: duration(left * 1_000) }))));
    };
    submit.setAttribute('aria-disabled', 'true');
    waiting = setInterval(show, 1_000);
    show();
  }

  async function attempt(body, submit) {
    try {
      await signIn(body);
      clearInterval(waiting);
      done();
    } catch (problem) {
      if (problem.status === 429) hold(problem.retryAfter ?? 5, submit);
      else if (problem.status === 401) refusal.replaceChildren(note('bad', h('p', t(body.link ? 'signin.linkRefused' : 'signin.refused'))));
      else refusal.replaceChildren(problemBox(problem));
      return false;
    }
    return true;
  }

  function passwordForm() {
    const name = textInput({ name: 'operator', autocomplete: 'username', required: true, autocapitalize: 'none' });
    const password = h('input', { type: 'password', name: 'password', autocomplete: 'current-password', required: true });
    const nameField = field({ label: t('signin.name'), input: name, wide: true });
    const passwordField = field({ label: t('signin.password'), input: password, wide: true });
    const submit = button({ label: t('signin.submit'), kind: 'primary wide', type: 'submit' });
    const form = h('form', {
      novalidate: true,
      on: {
        submit: async (event) => {
          event.preventDefault();
          nameField.fail(name.value.trim() ? '' : t('signin.nameMissing'));
          passwordField.fail(password.value ? '' : t('signin.passwordMissing'));
          if (!name.value.trim()) return name.focus();
          if (!password.value) return password.focus();
          submit.setAttribute('aria-busy', 'true');
          const isIn = await attempt({ operator: name.value.trim(), password: password.value }, submit);
          submit.removeAttribute('aria-busy');
          if (!isIn) password.select();
        },
      },
    }, nameField, passwordField, submit);
    setTimeout(() => name.focus(), 0);
    return form;
  }

  function linkForm() {
    const submit = button({
      label: t('signin.submit'), kind: 'primary wide',
      onClick: async () => {
        if (await attempt({ link }, submit)) return;
        submit.replaceWith(passwordForm());
        help.hidden = false;
      },
    });
    return h('div.stack', h('p', t('signin.linkText')), submit);
  }

  // Whoever has a link needs no other.
  const help = h('p.signin-help', { hidden: Boolean(link) }, shape('info'), h('span', t('signin.help')), h('code', 'tidings console link --store …/tidings.sqlite'));
  root.replaceChildren(h('div.signin-card',
    h('h1', { tabindex: '-1' }, t('signin.title')),
    reason === 'expired' ? note('info', h('p', t('signin.expired'))) : null,
    link ? linkForm() : passwordForm(),
    refusal, help));
}
