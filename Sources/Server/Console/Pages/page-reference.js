// What iOS does with a notification: the page of the documentation that a phone's trace names, as the server has it.

import { api, path } from './api.js';
import { h, loadStyle } from './dom.js';
import { addWords, currentLanguage, t } from './text.js';
import { emptyState, pageHead, skeleton } from './widgets.js';
import { addressOf } from './address.js';

export default async function open(page) {
  const words = currentLanguage() === 'en' ? import('./text-phones-en.js') : import('./text-phones-zh-Hans.js');
  const [{ default: catalogue }] = await Promise.all([words, loadStyle('phones-page.css')]);
  addWords(catalogue);
  page.setTitle(t('phones.reference.title'));
  // The page is written in one language, whatever that of the console is.
  const body = h('article.reference', skeleton(8));
  page.root.append(pageHead({
    title: t('phones.reference.title'), lead: t('phones.reference.lead'), crumbs: [[t('phones.title'), addressOf('phones')]],
  }), body);
  try {
    const text = await api.text(path`/console/${REFERENCE}`, { signal: page.signal });
    body.lang = 'en';
    body.replaceChildren(...new ReferenceText(text).make());
  } catch (problem) {
    if (problem.name === 'AbortError') return;
    body.replaceChildren(emptyState({ title: t('phones.reference.failed') }));
    return;
  }
  // Whoever comes for a section reads on there; the frame puts the focus on the heading of the page first.
  const heading = page.params.section ? body.querySelector(`[data-section="${CSS.escape(page.params.section)}"]`) : null;
  if (heading) requestAnimationFrame(() => { heading.focus(); heading.scrollIntoView({ block: 'start' }); });
}

const REFERENCE = 'ios-delivery.md';
const HEADING = /^(#{2,4}) (.+)$/;
const ITEM = /^(?:[-*]|(\d+)\.) +(.*)$/;

/** Markdown as that page has it: headings, paragraphs, lists, tables and what stands within a line. Whatever else there is stays text. */
class ReferenceText {
  constructor(text) {
    this.lines = text.split('\n');
    this.place = 0;
  }

  get line() {
    return this.lines[this.place];
  }

  make() {
    const blocks = [];
    while (this.place < this.lines.length) {
      const heading = HEADING.exec(this.line);
      if (!this.line.trim() || this.line.startsWith('# ')) this.place += 1;
      else if (heading) blocks.push(this.makeHeading(heading));
      else if (this.line.startsWith('|')) blocks.push(this.makeTable());
      else if (ITEM.test(this.line)) blocks.push(this.makeList());
      else blocks.push(h('p', this.makeInline(this.readParagraph())));
    }
    return blocks;
  }

  makeHeading([, marks, text]) {
    this.place += 1;
    const section = /^(\d+(?:\.\d+)?)\.? /.exec(text)?.[1] ?? null;
    return h(`h${marks.length}`, { tabindex: section ? '-1' : null, 'data-section': section }, this.makeInline(text));
  }

  /** Lines up to an empty one, or one with which something else begins. */
  readParagraph() {
    const lines = [];
    do {
      lines.push(this.line.trim());
      this.place += 1;
    } while (this.line?.trim() && !this.line.startsWith('|') && !HEADING.test(this.line) && !ITEM.test(this.line));
    return lines.join(' ');
  }

  makeList() {
    const isNumbered = ITEM.exec(this.line)[1] !== undefined;
    const items = [];
    while (this.line !== undefined && ITEM.test(this.line)) {
      const [, , first] = ITEM.exec(this.line);
      this.lines[this.place] = first;
      items.push(h('li', this.makeInline(this.readParagraph())));
    }
    return h(isNumbered ? 'ol' : 'ul', items);
  }

  makeTable() {
    const rows = [];
    while (this.line?.startsWith('|')) {
      rows.push(this.line.trim().slice(1, -1).split(/(?<!\\)\|/).map((cell) => cell.trim()));
      this.place += 1;
    }
    const [head, , ...others] = rows;
    return h('div.table-box', { role: 'group', tabindex: '0', 'aria-label': head.join(', ') }, h('table',
      h('thead', h('tr', head.map((cell) => h('th', { scope: 'col' }, this.makeInline(cell))))),
      h('tbody', others.map((row) => h('tr', row.map((cell) => h('td', this.makeInline(cell))))))));
  }

  /** Code, strong, emphasis and links; of links those within the page lead somewhere here. */
  makeInline(text) {
    return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*|\[[^\]]+\]\([^)]+\))/).map((part) => {
      if (/^`.+`$/.test(part)) return h('code', part.slice(1, -1));
      if (/^\*\*.+\*\*$/.test(part)) return h('strong', this.makeInline(part.slice(2, -2)));
      if (/^\*.+\*$/.test(part)) return h('em', this.makeInline(part.slice(1, -1)));
      const link = /^\[([^\]]+)\]\(([^)]+)\)$/.exec(part);
      if (!link) return part;
      const section = /^#\d/.test(link[2]) ? /^\d+(?:\.\d+)?/.exec(link[1])?.[0] : null;
      return section ? h('a', { href: addressOf('phones', 'reference', section) }, link[1]) : link[1];
    });
  }
}
