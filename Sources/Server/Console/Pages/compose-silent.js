// A silent push to one person: nothing is shown, the app is woken.

import { t } from './text.js';
import { card, field, textInput } from './widgets.js';
import { silentCard } from './page-person.js';

export function silentParts(page, draft, changed) {
  const { silent } = draft;
  const user = textInput({ name: 'silent-user', value: silent.user, required: true, on: { input: () => { silent.user = user.value; changed(); } } });
  const entry = field({ label: t('messages.person'), input: user });
  const whom = () => {
    entry.fail(user.value.trim() ? '' : t('messages.personMissing'));
    if (!user.value.trim()) user.focus();
    return user.value.trim() || null;
  };
  return card({ title: t('silent.title'), lead: t('silent.lead') }, entry, silentCard(page, whom, silent, changed));
}
