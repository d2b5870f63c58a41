// The HTTP API: every operation and every named schema, as the server's own description says.

import { h, loadStyle } from './dom.js';
import { api, curlOf } from './api.js';
import { t, tn } from './text.js';
import { addressOf, replaceAddress } from './address.js';
import { card, chip, codeBlock, emptyState, field, pageHead, table, textInput } from './widgets.js';

let description = null;

async function readDescription(signal) {
  description ??= await api.get('/openapi.json', null, { signal });
  return description;
}

/** Returns every operation, in the order of the description. */
function operationsOf({ paths }) {
  const methods = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete'];
  return Object.entries(paths).flatMap(([path, all]) => methods.filter((method) => all[method]).map((method) => ({
    path, method: method.toUpperCase(), origin: all.servers?.[0].url, ...all[method],
  })));
}

/** Returns every operation as the field over everything offers it. */
export async function findOperations() {
  return operationsOf(await readDescription()).map((each) => ({
    words: each.operationId, more: `${each.method} ${each.path} ${each.summary}`, kind: t('nav.api'), href: addressOf('api', each.operationId),
  }));
}

/** What the description says, which is written in one language. */
const said = (text) => h('span', { lang: 'en' }, text);

const nameOf = (reference) => reference.split('/').at(-1);

/** Returns what a reference names, with what stands beside it. */
function resolve(part) {
  if (!part?.$ref) return part;
  const [kind, name] = part.$ref.split('/').slice(-2);
  return { ...description.components[kind][name], ...part, $ref: undefined };
}

/** Puts something between things. */
const joined = (parts, between) => parts.flatMap((part, index) => (index ? [between, part] : [part]));

function typeOf(schema) {
  if (!schema) return t('api.anything');
  if (schema.$ref) return h('a', { href: addressOf('api', nameOf(schema.$ref)) }, h('code', nameOf(schema.$ref)));
  if (schema.oneOf) return joined(schema.oneOf.map(typeOf), t('api.or'));
  if (schema.enum) return joined(schema.enum.map((each) => h('code', String(each))), ' ');
  const types = [schema.type ?? []].flat();
  if (!types.length) return t('api.anything');
  return joined(types.map((type) => (type === 'array' ? [t('api.listOf'), typeOf(schema.items)] : h('code', type))), t('api.or'));
}

/** Returns the limits of a value: `1–100`, `≤ 128`. */
function rangeOf(schema = {}) {
  const span = (least, most) => (least === undefined && most === undefined ? null
    : least === undefined ? `≤ ${most}` : most === undefined ? `≥ ${least}` : `${least}–${most}`);
  const counted = (least, most, unit) => (span(least, most) ? t(unit, { range: span(least, most) }) : null);
  return [
    span(schema.minimum, schema.maximum), counted(schema.minLength, schema.maxLength, 'api.characters'), counted(schema.minItems, schema.maxItems, 'api.elements'),
    schema.pattern ? h('code', schema.pattern) : null, schema.format ? h('code', schema.format) : null,
    schema.default === undefined ? null : [t('api.default'), ' ', h('code', JSON.stringify(schema.default))],
  ].filter(Boolean);
}

/** Returns the members of a schema, those of objects within it behind their names: `conversation.type`, `legs[].end`. */
function membersOf(schema, prefix = '') {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => [
    { name: `${prefix}${name}`, schema: member, isNeeded: schema.required?.includes(name) },
    ...membersOf(member, `${prefix}${name}.`), ...membersOf(member.items ?? {}, `${prefix}${name}[].`),
  ]);
}

/** A table of values with their types, ranges and words. */
function valuesTable(caption, rows) {
  return table({
    caption,
    captionHidden: false,
    columns: [
      { label: t('api.name'), cell: ({ name, isNeeded }) => [h('code', name), isNeeded ? h('span.quiet', ` ${t('api.needed')}`) : null] },
      { label: t('api.type'), cell: ({ schema }) => joined([typeOf(schema), ...rangeOf(schema)], ' · ') },
      { label: t('api.meaning'), cell: ({ schema, words }) => said(words ?? resolve(schema)?.description ?? '–') },
    ],
    rows,
  });
}

function schemaBody(schema) {
  const members = membersOf(schema);
  const range = rangeOf(schema);
  return [
    schema.description ? h('p', said(schema.description)) : null,
    schema.properties ? null : h('p', joined([typeOf(schema), ...range], ' · ')),
    schema.additionalProperties?.type || schema.additionalProperties?.$ref ? h('p', t('api.others'), typeOf(schema.additionalProperties)) : null,
    members.length ? valuesTable(t('api.members'), members) : null,
    schema.example === undefined ? null : codeBlock(JSON.stringify(schema.example, null, 2), t('api.example')),
  ];
}

/** The request for a shell, with the example of its body; places of the address stand in capitals. */
function curlFor(operation, parameters, body, app) {
  const place = (name) => {
    const parameter = parameters.find((each) => each.name === name);
    return String(parameter?.example ?? (name === 'app' && app ? app : name.toUpperCase()));
  };
  const query = parameters.filter((each) => each.in === 'query' && each.required).map((each) => `${each.name}=${place(each.name)}`);
  const keys = (operation.security ?? []).flatMap((each) => Object.keys(each));
  const key = keys.length ? keys[0].replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase() : null;
  const address = operation.path.replace(/\{(\w+)\}/g, (_, name) => place(name)) + (query.length ? `?${query.join('&')}` : '');
  return curlOf(operation.method, address, body?.example, { key, origin: operation.origin });
}

function answersTable(operation) {
  const rows = Object.entries(operation.responses).map(([status, answer]) => ({ status, ...resolve(answer) }));
  const codesOf = ({ content }) => content?.['application/problem+json']?.schema.properties?.code?.enum;
  const schemaOf = ({ content }) => content?.['application/json']?.schema;
  return table({
    caption: t('api.answers'),
    captionHidden: false,
    columns: [
      { label: t('api.status'), cell: ({ status }) => h('code', status) },
      { label: t('api.meaning'), cell: (row) => said(row.description) },
      { label: t('api.body'), cell: (row) => (codesOf(row) ? joined(codesOf(row).map((code) => h('code', code)), ' ')
        : schemaOf(row) ? typeOf(schemaOf(row)) : Object.keys(row.content ?? {}).map((type) => h('code', type))) },
    ],
    rows,
  });
}

function operationBody(operation, app) {
  const parameters = (operation.parameters ?? []).map(resolve);
  const [type, body] = Object.entries(resolve(operation.requestBody)?.content ?? {})[0] ?? [];
  const schemes = (operation.security ?? []).flatMap((each) => Object.keys(each));
  const schema = resolve(body?.schema);
  return [
    operation.description ? h('p', said(operation.description)) : null,
    h('p', t('api.asker'), ': ', schemes.length ? joined(schemes.map((each) => said(description.components.securitySchemes[each].description.split('. ')[0])), ' · ') : t('api.anybody')),
    parameters.length ? valuesTable(t('api.parameters'), parameters.map((each) => ({
      name: each.name, schema: each.schema, isNeeded: each.required, words: [each.description, `(${each.in})`].filter(Boolean).join(' '),
    }))) : null,
    body ? h('p', t('api.body'), ': ', body.schema?.$ref ? typeOf(body.schema) : h('code', type)) : null,
    schema?.properties ? valuesTable(t('api.members'), membersOf(schema)) : null,
    h('h3', t('api.example')), codeBlock(curlFor(operation, parameters, body, app), t('frame.asCurl')),
    answersTable(operation),
  ];
}

/** A line that is folded open; what stands in it is made then. */
function entry(name, summary, words, make) {
  const body = h('div.disclosure-body');
  const element = h('details.disclosure.api-entry', { 'data-name': name }, h('summary', summary), body);
  element.words = words.toLowerCase();
  element.fill = () => { if (!body.firstChild) body.append(...make().flat(Infinity).filter(Boolean)); };
  element.addEventListener('toggle', () => { if (element.open) element.fill(); });
  return element;
}

function operationEntry(operation, app) {
  const { operationId: id, method, path, summary, description: text = '' } = operation;
  const scope = /\b(?:scope|role) (\w+)/.exec(text)?.[1];
  return entry(id, joined([h('code.api-method', method), h('code', path.split(/(?<=\/)/).flatMap((part) => [h('wbr'), part])), h('strong', said(summary)), h('code.quiet', id), scope ? chip('info', scope) : ''], ' '),
    `${id} ${method} ${path} ${summary} ${operation.tags}`, () => operationBody(operation, app));
}

export default async function open(page) {
  page.setTitle(t('api.title'));
  const [all] = await Promise.all([readDescription(page.signal), loadStyle('api-page.css')]);
  const app = page.lastApp() ?? page.apps()[0]?.id;
  const operations = operationsOf(all);
  const parts = all.tags.map(({ name, description: text }) => ({
    name, text, entries: operations.filter((each) => each.tags.includes(name)).map((each) => operationEntry(each, app)),
  }));
  parts.push({
    name: 'schemas', text: null,
    entries: Object.entries(all.components.schemas).map(([name, schema]) => entry(name, h('code', name), `${name} ${schema.description ?? ''}`, () => schemaBody(schema))),
  });
  const cards = parts.map(({ name, text, entries }) => {
    const part = card({ title: name === 'schemas' ? t('api.schemas') : name, lead: text ? said(text) : null }, ...entries);
    part.dataset.name = name;
    part.querySelector('h2').tabIndex = -1;
    return part;
  });
  const told = h('p.quiet', { role: 'status' });
  const none = emptyState({ title: t('api.none') });
  const search = textInput({ type: 'search', name: 'find', value: page.query.find ?? '' });
  const filter = () => {
    const words = search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    parts.forEach(({ entries }, index) => {
      for (const each of entries) each.hidden = !words.every((word) => each.words.includes(word));
      const shown = entries.filter((each) => !each.hidden).length;
      cards[index].hidden = !shown;
      count += shown;
    });
    none.hidden = count > 0;
    told.textContent = words.length ? tn('api.found', count) : '';
  };
  search.addEventListener('input', () => {
    replaceAddress(addressOf('api', { find: search.value.trim() }));
    filter();
  });
  page.root.append(
    pageHead({ title: t('api.title'), lead: t('api.lead') }), field({ label: t('api.search'), input: search }), told,
    h('nav.api-parts', { 'aria-label': t('api.contents') }, parts.map(({ name }) => h('a', { href: addressOf('api', name) }, name === 'schemas' ? t('api.schemas') : name))),
    none, ...cards);
  filter();
  const place = page.params.name ? page.root.querySelector(`[data-name="${CSS.escape(page.params.name)}"]`) : null;
  if (!place) return;
  if (place.fill) {
    place.fill();
    place.open = true;
  }
  page.focusOn = place.querySelector('summary, h2');
  requestAnimationFrame(() => place.scrollIntoView({ block: 'start' }));
}
