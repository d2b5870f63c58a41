// Small charts. Lines differ by dash and mark as well as by colour, and every chart can be read as a table.

import { h, s, makeId } from './dom.js';
import { t, clock, compact, number, duration } from './text.js';
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

/** Returns the place of a value, from 0 at the axis to 1 at the top. Each step up of a time is ten times as long. */
function placeOf(value, scale) {
  if (!scale.isTime) return value / scale.top;
  return value <= scale.bottom ? 0 : Math.log10(value / scale.bottom) / Math.log10(scale.top / scale.bottom);
}

/** The scale of a chart: its ends, and the values that have a line and words. */
function scaleOf(values, isTime) {
  const known = values.filter((value) => value !== null);
  if (!isTime) {
    const top = niceTop(Math.max(0, ...known));
    return { isTime, top, ticks: [0, top / 2, top] };
  }
  const top = Math.max(100, 10 ** Math.ceil(Math.log10(Math.max(1, ...known))));
  const ticks = [];
  for (let tick = 1; tick <= top; tick *= 10) ticks.push(tick);
  return { isTime, bottom: 1, top, ticks };
}

/** The line through known values; those that stand alone are dots of their own: a line of no length, with round ends. */
function pathsOf(values, scale) {
  let path = '';
  let dots = '';
  let isDown = false;
  values.forEach((value, index) => {
    if (value === null) {
      isDown = false;
      return;
    }
    const x = (index / Math.max(1, values.length - 1)) * WIDTH;
    const y = yOf(value, scale);
    const isAlone = !isDown && (values[index + 1] ?? null) === null;
    if (isAlone) dots += `M${x.toFixed(1)} ${y.toFixed(1)}h0.01`;
    else path += `${isDown ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`;
    isDown = true;
  });
  return { path, dots };
}

function yOf(value, scale) {
  return HEIGHT - 1 - placeOf(value, scale) * (HEIGHT - 4);
}

/**
 * A chart of lines over time. `series`: `[{name, values}]`, newest last, null where nothing is known; all begin at `from` and go on in
 * steps of `step` milliseconds. With `isTime` values are milliseconds, drawn logarithmically.
 */
export function lineChart({ title, series, from, step, unit = '', isTime = false }) {
  const scale = scaleOf(series.flatMap((each) => each.values), isTime);
  const say = (value) => (isTime ? duration(value) : withUnit(compact(value), unit));
  const count = series[0].values.length;
  const unknown = series[0].values.findIndex((value) => value !== null);
  const latest = series.map((each) => `${each.name}: ${say(each.values.findLast((value) => value !== null) ?? 0)}`).join(', ');
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
      h('div.plot-ticks', { 'aria-hidden': 'true' }, scale.ticks.map((tick) => h('span', { vars: { '--y': `${(yOf(tick, scale) / HEIGHT) * 100}%` } }, say(tick)))),
      s('svg.plot-svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': t('chart.label', { title, latest }) },
        s('defs', s('pattern', { id: patternId, width: 8, height: 8, patternUnits: 'userSpaceOnUse' }, s('path', { d: 'M0 8L8 0', class: 'hatch' }))),
        blank > 4 ? s('rect', { x: 0, y: 0, width: blank, height: HEIGHT, fill: `url(#${patternId})` }) : null,
        scale.ticks.slice(1).map((tick) => s('line', { x1: 0, x2: WIDTH, y1: yOf(tick, scale), y2: yOf(tick, scale), class: 'grid', 'vector-effect': 'non-scaling-stroke' })),
        s('line', { x1: 0, x2: WIDTH, y1: HEIGHT - 0.5, y2: HEIGHT - 0.5, class: 'axis' }),
        series.map((each, index) => {
          const { path, dots } = pathsOf(each.values, scale);
          return [s('path', { d: path, class: `line series-${index + 1}`, 'stroke-dasharray': DASHES[index], 'vector-effect': 'non-scaling-stroke' }),
            dots ? s('path', { d: dots, class: `line dots series-${index + 1}`, 'vector-effect': 'non-scaling-stroke' }) : null];
        }))),
    h('div.plot-times', { 'aria-hidden': 'true' }, h('span', clock(from)), h('span', blank > WIDTH * 0.3 ? t('chart.unknown') : clock(from + (count * step) / 2)),
      h('span', clock(from + count * step))),
    disclosure(t('chart.asTable'), table({
      caption: title,
      columns: [{ key: 'at', label: t('frame.time'), cell: (row) => clock(row.at) },
        ...series.map((each, index) => ({ key: each.name, label: each.name, className: 'num', cell: (row) => row.values[index] === null ? '–' : isTime ? duration(row.values[index]) : number(row.values[index]) }))],
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
