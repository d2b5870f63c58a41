// An app's screen from its view tree. There is no layout in the tree, so what a view is decides where it stands: bars at their ends, a table
// takes the room that is left, alerts and menus lie over all, everything else follows in its order.

import { t } from './text.js';
import { v } from './phone-patch.js';
import { drawSign } from './phone-icons.js';
import { takeGestures, wasGesture } from './phone-gestures.js';
import { nameView } from './phone-views.js';
import { findSide, findSideButtons, readBubble, readLines, readRow, readTexts, readWords, takes } from './phone-rows.js';

const INLINE = new Set(['button', 'textField', 'switch', 'control', 'image']);

/** Draws the windows of the app in the foreground. `touch(view, action, more)` does what a person does with a view. */
export class AppScreen {
  constructor(windows, touch) {
    this.windows = windows;
    this.sendTouch = touch;
  }

  draw() {
    const [main, ...others] = this.windows;
    const parts = { top: [], body: [], bottom: [], boxes: [] };
    this.addNodes(main?.children ?? [], parts);
    const strips = [];
    for (const window of others) {
      const over = { top: [], body: [], bottom: [], boxes: [] };
      this.addNodes(window.children, over);
      parts.boxes.push(...over.boxes);
      const words = [...over.top, ...over.body, ...over.bottom];
      if (words.length) strips.push(v('div.phone-app-strip', words));
    }
    // Below an alert or a menu all is seen and nothing can be touched.
    return v('div.phone-app', { key: 'app' },
      v('div.phone-app-main', { key: 'main', inert: parts.boxes.length > 0 }, parts.top, v('div.phone-app-body', { key: 'body' }, parts.body),
        parts.bottom),
      strips.length ? v('div.phone-app-strips', { key: 'strips' }, strips) : null,
      parts.boxes.map((box, index) => this.drawBox(box, index)));
  }

  touch(node, action = 'tap', more = {}) {
    return this.sendTouch(nameView(this.windows, node), action, more);
  }

  press(node) {
    return { click: (event) => { if (!wasGesture(event.currentTarget)) this.touch(node); } };
  }

  // Parts

  addNodes(nodes, parts) {
    const fields = nodes.filter((node) => node.role === 'textField');
    const isForm = fields.length > 1;
    // A label of the app's own over an empty field says what the field says.
    const saidByFields = fields.filter((node) => !node.text).flatMap((node) => [node.label, node.hint]);
    let line = [];
    const endLine = () => {
      if (line.length) parts.body.push(v('div.phone-line', { class: isForm ? 'is-form' : '' }, line.map((node) => this.drawInline(node, line))));
      line = [];
    };
    for (const node of nodes) {
      if (node.role === 'text' && saidByFields.includes(node.text)) continue;
      if (INLINE.has(node.role) && (node.role !== 'control' && node.role !== 'image' || (!node.children.length && readWords(node)))) {
        line.push(node);
        continue;
      }
      endLine();
      this.addNode(node, parts);
    }
    endLine();
  }

  addNode(node, parts) {
    if (node.role === 'navigationBar') parts.top.push(this.drawNavigation(node));
    else if (node.role === 'tabBar') { if (node.children.length) parts.bottom.push(this.drawTabs(node)); }
    else if (node.role === 'alert' || node.role === 'menu') parts.boxes.push(node);
    else if (node.role === 'table') { if (node.children.length) parts.body.push(this.drawTable(node)); }
    else if (node.role === 'row') parts.body.push(v('ul.phone-table.is-cards', this.drawRow(node)));
    else if (node.role === 'header') parts.body.push(v('p.phone-header', readWords(node)));
    else if (node.role === 'text') { if (readWords(node)) parts.body.push(v('p.phone-text', v('bdi', readWords(node)))); }
    else if (takes(node, 'tap') && node.children.length) parts.body.push(v('ul.phone-table.is-cards', this.drawRow(node)));
    else if (node.children.length) this.addNodes(node.children, parts);
    else if (readWords(node)) parts.body.push(v('p.phone-text', v('bdi', readWords(node))));
  }

  // Bars

  drawNavigation(bar) {
    const place = bar.children.findIndex((child) => !INLINE.has(child.role));
    const title = place >= 0 ? readWords(bar.children[place]) || readTexts(bar.children[place]).join(' ') : readWords(bar);
    let left = place >= 0 ? bar.children.slice(0, place) : [];
    let right = place >= 0 ? bar.children.slice(place + 1) : bar.children;
    if (place < 0 && right[0]?.identifier === 'back') [left, right] = [right.slice(0, 1), right.slice(1)];
    return v('div.phone-navigation', { key: 'navigation' },
      v('div.phone-navigation-side', left.map((node) => this.drawBarButton(node))),
      v('div.phone-navigation-title', { role: 'heading', 'aria-level': '3' }, v('bdi', title)),
      v('div.phone-navigation-side.is-right', right.map((node) => this.drawBarButton(node))));
  }

  drawBarButton(node) {
    const isBack = node.identifier === 'back';
    const words = readWords(node) || readTexts(node).join(' ');
    // The way back says where it leads, and VoiceOver that it is the way back.
    const label = isBack && node.label && node.text ? `${node.label}, ${node.text}` : node.label ?? words;
    return v('button.phone-bar-button', {
      type: 'button', class: isBack ? 'is-back' : '', disabled: !takes(node, 'tap'), 'aria-label': label, on: this.press(node),
    }, isBack ? drawSign('back') : null, v('span', { 'aria-hidden': 'true' }, words));
  }

  drawTabs(bar) {
    return v('div.phone-tabs', { key: 'tabs', role: 'group', 'aria-label': t('phones.screen.tabs') }, bar.children.map((tab, index) => {
      const texts = [...new Set([tab.text ?? tab.label, tab.value, ...tab.children.flatMap(readTexts)].filter(Boolean))];
      return v('button.phone-tab', {
        type: 'button', 'aria-pressed': String(tab.is_selected), disabled: !takes(tab, 'tap'), on: this.press(tab),
      }, drawSign(index === 0 ? 'message' : index === bar.children.length - 1 ? 'gear' : 'person'), v('span', texts[0] ?? ''),
        texts.length > 1 ? v('span.phone-badge.is-tab', texts.slice(1).join(' ')) : null);
    }));
  }

  // Tables

  drawTable(table) {
    const isChat = table.children.some((row) => findSide(row));
    const hasPortraits = !isChat && table.children.some((row) => row.children[0]?.role === 'image');
    const kind = isChat ? 'is-chat' : hasPortraits ? 'is-list' : 'is-cards';
    const scroll = (direction) => this.touch(table, 'scroll', { direction });
    const onEdge = (element, down) => {
      if (performance.now() - (element.phoneScrolled ?? 0) < 450) return;
      element.phoneScrolled = performance.now();
      scroll(down ? 'down' : 'up');
    };
    const button = (direction) => takes(table, 'scroll', direction) && v('button.phone-scroll', {
      key: direction, type: 'button', class: `is-${direction}`, 'aria-label': t(`phones.screen.scroll.${direction}`),
        on: { click: () => scroll(direction) },
    }, drawSign(direction));
    return v('div.phone-table-box', { key: table.identifier ?? 'table' },
      button('up'),
      v('div.phone-table-room', {
        key: 'room', class: kind,
        on: {
          wheel: (event) => {
            const room = event.currentTarget;
            const isAtEnd = isChat ? Math.abs(room.scrollTop) < 2 : room.scrollTop + room.clientHeight > room.scrollHeight - 2;
            const isAtStart = isChat ? -room.scrollTop + room.clientHeight > room.scrollHeight - 2 : room.scrollTop < 2;
            if (event.deltaY > 0 && isAtEnd && takes(table, 'scroll', 'down')) onEdge(room, true);
            if (event.deltaY < 0 && isAtStart && takes(table, 'scroll', 'up')) onEdge(room, false);
          },
        },
      }, v('ul.phone-table', { class: kind }, table.children.map((row) => isChat ? this.drawMessage(row) : this.drawRow(row)))),
      button('down'));
  }

  rowKey(row) {
    return row.identifier ?? readTexts(row)[0];
  }

  /** The part of a row that is pressed lies over it; what else acts in the row lies over that. */
  drawHit(row, label) {
    if (!takes(row, 'tap')) return null;
    return v('button.phone-hit', { key: 'hit', type: 'button', 'aria-label': label, title: row.hint, on: this.press(row) });
  }

  drawMore(row, label) {
    if (!takes(row, 'long_press')) return null;
    return v('button.phone-more', {
      key: 'more', type: 'button', 'aria-label': t('phones.screen.more', { name: label }), on: { click: () => this.touch(row, 'long_press') },
    }, drawSign('more'));
  }

  rowGestures(row) {
    return takeGestures({
      left: () => this.touch(row, 'swipe', { direction: 'left' }),
      right: () => this.touch(row, 'swipe', { direction: 'right' }),
      hold: takes(row, 'long_press') ? () => this.touch(row, 'long_press') : null,
    });
  }

  drawRow(row) {
    if (row.role === 'header') return v('li.phone-header', { key: this.rowKey(row) }, readWords(row));
    const content = readRow(row);
    const lines = readLines(content);
    const label = row.label ?? readTexts(row).join(', ');
    const isPlain = !content.items.some((item) => item.kind === 'thing' && takes(item.node, 'tap'));
    const isTapped = takes(row, 'tap');
    return v('li.phone-row', {
      key: this.rowKey(row), class: [isTapped ? 'is-tapped' : '', row.is_selected ? 'is-selected' : '',
        lines.length > 1 ? 'has-lines' : ''].join(' '),
      'data-gesture': true, on: this.rowGestures(row),
    },
    this.drawHit(row, row.is_selected ? t('phones.screen.selected', { name: label }) : label),
    content.portrait ? this.drawPortrait(content.portrait, lines[0]?.words ?? '') : null,
    v('div.phone-row-lines', { 'aria-hidden': isTapped && isPlain ? 'true' : null },
      lines.map((line, index) => v('div.phone-row-line', { class: index === 0 ? 'is-first' : '' },
      v('span.phone-row-words', v('bdi', line.words)), line.right.map((item) => this.drawNote(item))))),
    row.is_selected ? v('span.phone-row-mark', drawSign('check')) : null,
    this.drawSideButtons(row),
    this.drawMore(row, label));
  }

  drawSideButtons(row) {
    const buttons = findSideButtons(row);
    if (!buttons.length) return null;
    return v('div.phone-side', { key: 'side' },
      buttons.map((button) => v('button', { type: 'button', disabled: !takes(button, 'tap'), on: this.press(button) }, readWords(button))));
  }

  drawNote(item) {
    if (item.kind === 'thing') return this.drawInline(item.node, []);
    if (item.kind === 'image') return drawSign(item.name, item.words) ?? v('span.phone-note', item.words || item.name);
    return v('span', { class: /^\d+\+?$/.test(item.words) ? 'phone-badge is-inline' : 'phone-note' }, v('bdi', item.words));
  }

  drawPortrait(image, name) {
    const sum = [...name].reduce((all, sign) => (all * 31 + sign.codePointAt(0)) % 997, 7);
    const first = [...name.trim()][0] ?? '';
    return v('span.phone-portrait', { class: `is-tone-${sum % 6}`, 'aria-hidden': 'true' },
      first ? first.toUpperCase() : drawSign(image.identifier ?? 'person'));
  }

  drawMessage(row) {
    const side = findSide(row);
    const content = readRow(row);
    const label = row.label ?? readTexts(row).join(', ');
    if (!side) {
      return v('li.phone-between', { key: this.rowKey(row) }, this.drawHit(row, label),
        v('span', { 'aria-hidden': takes(row, 'tap') ? 'true' : null },
          content.items.filter((item) => item.kind === 'text').map((item) => item.words).join(' ') || readWords(row)));
    }
    const { parts, marks } = readBubble(content);
    const texts = parts.filter((part) => part.kind === 'text').length;
    return v('li.phone-message', { key: this.rowKey(row), class: `is-${side}`, 'data-gesture': true, on: this.rowGestures(row) },
      v('div.phone-bubble',
        this.drawHit(row, label),
        v('div.phone-bubble-parts', { 'aria-hidden': 'true' }, parts.map((part, index) => this.drawPart(part, index === 0 && texts > 1)))),
      marks.length ? v('div.phone-marks', { 'aria-hidden': 'true' },
        marks.map((mark) => mark.kind === 'thing' ? v('span', readWords(mark.node)) : v('span', mark.words || mark.name))) : null,
      this.drawSideButtons(row),
      this.drawMore(row, label));
  }

  drawPart(part, isSender) {
    if (part.kind === 'quote') return v('blockquote.phone-quote', v('bdi', part.words));
    if (part.kind === 'image') return v('span.phone-photo', drawSign('photo'), v('span', part.words || t('phones.screen.image')));
    if (part.kind === 'thing') return this.drawInline(part.node, []);
    return v('p', { class: isSender ? 'phone-sender' : '' }, v('bdi', part.words));
  }

  // Fields, switches and buttons

  drawInline(node, line) {
    if (node.role === 'textField') return this.drawField(node);
    if (node.role === 'switch') {
      return v('button.phone-switch', {
        type: 'button', role: 'switch', 'aria-checked': String(node.value === '1'), 'aria-label': readWords(node) || t('phones.screen.switch'),
        disabled: !takes(node, 'tap'), on: this.press(node),
      });
    }
    if (node.role === 'image') return drawSign(node.identifier, readWords(node)) ?? v('span.phone-note', readWords(node));
    if (takes(node, 'enter')) return this.drawField(node);
    const words = readWords(node) || readTexts(node).join(' ') || node.identifier || '';
    const hasField = line.some((other) => other.role === 'textField');
    // Beside a field a button without words is a sign on iOS.
    const isSign = hasField && !node.text && line.indexOf(node) < line.findIndex((other) => other.role === 'textField');
    const isLast = hasField && line.indexOf(node) > line.findIndex((other) => other.role === 'textField');
    return v('button.phone-button', {
      type: 'button', class: isSign ? 'is-sign' : isLast ? 'is-send' : hasField || !line.length ? '' : 'is-wide',
        'aria-label': node.label ?? words,
      'aria-pressed': node.is_selected ? 'true' : null, disabled: !takes(node, 'tap'), on: this.press(node),
    }, isSign ? drawSign('plus') : v('span', { 'aria-hidden': 'true' }, words, node.role === 'button' || !node.value ? '' : ` ${node.value}`));
  }

  drawField(node) {
    const label = node.label ?? node.hint ?? node.identifier ?? t('phones.screen.field');
    const isSecret = /^•+$/.test(node.text ?? '') || /password|密码/i.test(`${node.label ?? ''}${node.hint ?? ''}`);
    const flush = (element) => {
      clearTimeout(element.phoneTimer);
      const text = element.value;
      if (!element.phoneIsTyped || element.phoneSent === text) return;
      element.phoneSent = text;
      this.touch(node, 'enter', { text }).then(() => { if (element.value === text) element.phoneIsTyped = false; });
    };
    return v('input.phone-field', {
      key: node.identifier ?? label, type: isSecret ? 'password' : 'text', autocomplete: 'off', spellcheck: 'false', 'aria-label': label,
        placeholder: node.hint ?? label,
      value: node.text ?? (node.role === 'textField' ? '' : node.value ?? ''), disabled: !takes(node, 'enter'),
      on: {
        input: (event) => {
          const element = event.currentTarget;
          element.phoneIsTyped = true;
          element.phoneSent = null;
          clearTimeout(element.phoneTimer);
          element.phoneTimer = setTimeout(() => flush(element), 180);
        },
        // Whatever is pressed next finds the field as it was typed.
        blur: (event) => flush(event.currentTarget),
        keydown: (event) => {
          if (event.key !== 'Enter' || event.isComposing) return;
          event.preventDefault();
          flush(event.currentTarget);
          this.touch(node, 'submit');
        },
      },
    });
  }

  // Alerts and menus

  drawBox(box, index) {
    const leaves = [];
    const collect = (node) => {
      if (['group', 'window', 'table', 'navigationBar', 'tabBar', 'alert', 'menu'].includes(node.role)) node.children.forEach(collect);
      else leaves.push(node);
    };
    box.children.forEach(collect);
    const texts = leaves.filter((node) => node.role === 'text' || node.role === 'header').map((node) => node.text).filter(Boolean);
    if (box.text && !texts.includes(box.text)) texts.unshift(box.text);
    const fields = leaves.filter((node) => node.role === 'textField');
    const buttons = leaves.filter((node) => !['text', 'header', 'textField'].includes(node.role));
    const label = box.label ?? texts[0] ?? t(box.role === 'menu' ? 'phones.screen.menu' : 'phones.screen.alert');
    return v('div.phone-box', {
      key: `box-${index}`, class: box.role === 'menu' ? 'is-menu' : 'is-alert', role: 'group', 'aria-label': label, 'data-takes-focus': true,
      on: { keydown: (event) => { if (event.key === 'Escape') { event.stopPropagation(); this.sendTouch(null, 'escape', {}); } } },
    }, v('div.phone-box-card',
      texts.map((text, place) => v('p', { class: place === 0 ? 'phone-box-title' : 'phone-box-text' }, v('bdi', text))),
      fields.map((field) => this.drawField(field)),
      v('div.phone-box-buttons', { class: box.role === 'alert' && buttons.length === 2 ? 'is-pair' : '' },
        buttons.map((button) => v('button.phone-box-button', {
        type: 'button', disabled: !takes(button, 'tap'), 'aria-pressed': button.is_selected ? 'true' : null, on: this.press(button),
      }, v('bdi', readWords(button) || readTexts(button).join(' ')))))));
  }
}
