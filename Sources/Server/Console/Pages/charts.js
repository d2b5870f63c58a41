// Small charts. Lines differ by dash and mark as well as by colour, and every chart can be read as a table.

import { h, s, makeId } from './dom.js';
import { t, clock, compact, number } from './text.js';
import { table, disclosure } from './widgets.js';

const WIDTH = 600;
const HEIGHT = 120;
const DASHES = ['', '7 4', '2 3'];

function niceTop(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= value);
}

/** "10/s", but "10 ms". */
function withUnit(words, unit) {
  return unit.startsWith('/') || !unit ? `${words}${unit}` : `${words} ${unit}`;
}

function linePath(values, top) {
  let path = '';
  let isDown = false;
  values.forEach((value, index) => {
    if (value === null) {
      isDown = false;
      return;
    }
    const x = (index / Math.max(1, values.length - 1)) * WIDTH;
    const y = HEIGHT - (value / top) * (HEIGHT - 4) - 1;
    // A value that stands alone is a short dash: a dot would be lost.
    const isAlone = !isDown && (values[index + 1] ?? null) === null;
    path += isDown ? `L${x.toFixed(1)} ${y.toFixed(1)}` : isAlone ? `M${(x - 4).toFixed(1)} ${y.toFixed(1)}h8` : `M${x.toFixed(1)} ${y.toFixed(1)}`;
    isDown = true;
  });
  return path;
}

/**
 * A chart of lines over time. `series`: `[{name, values}]`, newest last, null where nothing is known; all begin at `from` and go on in
 * steps of `step` milliseconds.
 */
export function lineChart({ title, series, from, step, unit }) {
  const top = niceTop(Math.max(0, ...series.flatMap((each) => each.values.filter((value) => value !== null))));
  const count = series[0].values.length;
  const unknown = series[0].values.findIndex((value) => value !== null);
  const latest = series.map((each) => `${each.name}: ${withUnit(number(each.values.findLast((value) => value !== null) ?? 0), unit)}`).join(', ');
  const patternId = makeId('pattern');
  const blank = unknown < 0 ? WIDTH : (unknown / Math.max(1, count - 1)) * WIDTH;
  const rows = [];
  const every = Math.max(1, Math.floor(count / 12));
  for (let index = count - 1; index >= 0 && rows.length < 12; index -= every) {
    if (series.every((each) => each.values[index] === null)) continue;
    rows.push({ at: from + index * step, values: series.map((each) => each.values[index]) });
  }
  return h('figure.chart',
    h('figcaption', h('span.chart-title', title), h('span.legend', series.map((each, index) => h('span.legend-item',
      s('svg.legend-line', { viewBox: '0 0 20 8', 'aria-hidden': 'true' },
        s('line', { x1: 0, x2: 20, y1: 4, y2: 4, class: `series-${index + 1}`, 'stroke-dasharray': DASHES[index] })),
      each.name)))),
    h('div.plot',
      h('span.plot-top', { 'aria-hidden': 'true' }, withUnit(compact(top), unit)),
      s('svg.plot-svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': t('chart.label', { title, latest }) },
        s('defs', s('pattern', { id: patternId, width: 8, height: 8, patternUnits: 'userSpaceOnUse' }, s('path', { d: 'M0 8L8 0', class: 'hatch' }))),
        blank > 4 ? s('rect', { x: 0, y: 0, width: blank, height: HEIGHT, fill: `url(#${patternId})` }) : null,
        [0.25, 0.5, 0.75].map((part) => s('line', { x1: 0, x2: WIDTH, y1: HEIGHT * part, y2: HEIGHT * part, class: 'grid' })),
        s('line', { x1: 0, x2: WIDTH, y1: HEIGHT - 0.5, y2: HEIGHT - 0.5, class: 'axis' }),
        series.map((each, index) => s('path', {
          d: linePath(each.values, top), class: `line series-${index + 1}`, 'stroke-dasharray': DASHES[index], 'vector-effect': 'non-scaling-stroke',
        })))),
    h('div.plot-times', { 'aria-hidden': 'true' }, h('span', clock(from)), blank > WIDTH * 0.3 ? h('span', t('chart.unknown')) : null,
      h('span', clock(from + count * step))),
    disclosure(t('chart.asTable'), table({
      caption: title,
      columns: [{ key: 'at', label: t('frame.time'), cell: (row) => clock(row.at) },
        ...series.map((each, index) => ({ key: each.name, label: each.name, className: 'num', cell: (row) => row.values[index] === null ? '–' : number(row.values[index]) }))],
      rows,
      empty: h('p.quiet', t('chart.nothing')),
    })));
}

/** Bars beside one another: `items`: `[{label, kind, value, share, note}]`. */
export function barList({ caption, items }) {
  const most = Math.max(1, ...items.map((item) => item.value));
  return h('ul.bars', { 'aria-label': caption }, items.map((item) => h('li',
    h('span.bar-label', item.label),
    h('span.bar-number', compact(item.value), item.note ? h('span.quiet', ` ${item.note}`) : null),
    h('span.bar', { 'aria-hidden': 'true' }, item.value > 0 && h(`span.bar-fill.bar-${item.kind}`, { vars: { '--share': `${(item.value / most) * 100}%` } })))));
}
