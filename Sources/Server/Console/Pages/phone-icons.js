// The signs of a phone, drawn here: names of Apple's symbols that the app's screens use, and those of the system.

import { vs } from './phone-patch.js';

const PATHS = {
  'bell.slash': 'M6.500 16V11a5.500 5.500 0 0 1 8.800-4.400M17.500 10.500V16l1.500 2H8M10 20.500h4M4 4l16 16',
  'arrow.clockwise': 'M19 12a7 7 0 1 1-2-5l2 2M19 4v5h-5',
  'arrow.uturn.backward': 'M9 5L4 10l5 5M4 10h10a5 5 0 0 1 0 10h-3',
  'arrowshape.turn.up.left': 'M10 5L3 11l7 6v-4c5 0 8 1 11 5-1-6-5-9-11-9z',
  'doc.on.doc': 'M9 8h10v12H9zM5 16V4h10',
  'ellipsis.circle': 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM8 12h.01M12 12h.01M16 12h.01',
  'envelope.open': 'M3 10l9-6 9 6v10H3zM3 10l9 6 9-6',
  'eye.slash': 'M3 12c2.500-4 5.500-6 9-6s6.500 2 9 6c-2.500 4-5.500 6-9 6s-6.500-2-9-6zM4 4l16 16',
  gear: 'M12 8.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7zM12 3v3M12 18v3M3 12h3M18 12h3M5.600 5.600l2.200 2.200M16.200 16.200l2.200 2.200M18.400 5.600l-2.200 2.200M7.800 16.200l-2.200 2.200',
  mappin: 'M12 21v-9M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8z',
  message: 'M12 4c5 0 9 3.200 9 7.200s-4 7.300-9 7.300c-1.200 0-2.400-.2-3.400-.5L4 20l1-3.600c-1.300-1.400-2-3.200-2-5.200C3 7.200 7 4 12 4z',
  photo: 'M3 5h18v14H3zM3 16l5-5 4 4 3-3 6 5M8.500 9h.01',
  pin: 'M8 4h8l-1 7 3 3H6l3-3zM12 14v7',
  'pin.slash': 'M8 4h8l-1 7 3 3H6l3-3zM12 14v7M4 4l16 16',
  plus: 'M12 5v14M5 12h14',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.500 20.500c.8-4.500 3.500-6.500 7.500-6.500s6.700 2 7.500 6.500',
  back: 'M15 5l-7 7 7 7',
  chevron: 'M9 5l7 7-7 7',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  check: 'M5 12.500l4.500 4.500L19 7.500',
  close: 'M7 7l10 10M17 7L7 17',
  send: 'M12 19V5M6 11l6-6 6 6',
  lock: 'M6 11h12v9H6zM8.500 11V8a3.500 3.500 0 0 1 7 0v3',
  unlock: 'M6 11h12v9H6zM8.500 11V8a3.500 3.500 0 0 1 6.800-1.200',
  airplane: 'M12 3c1 0 1.500 1.500 1.500 3v3.500L21 14v2l-7.500-2.500V18l2.500 1.800V21l-4-1-4 1v-1.200L10.500 18v-4.500L3 16v-2l7.500-4.500V6c0-1.500.5-3 1.500-3z',
  moon: 'M19.500 14A8 8 0 1 1 10 4.500a6.500 6.500 0 0 0 9.500 9.500z',
  call: 'M6 3l4 1 1 5-2.500 1.500c1 2.500 2.500 4 5 5L15 13l5 1 1 4c0 1.500-1 3-3 3C10 21 3 14 3 6c0-2 1.500-3 3-3z',
  up: 'M6 15l6-6 6 6',
  down: 'M6 9l6 6 6-6',
  torch: 'M8 3h8v4l-2 3v11h-4V10L8 7z',
  camera: 'M4 8h4l1.500-2h5L16 8h4v11H4zM12 10.500a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
};

/** A sign; what it means stands beside it or is the label of its button. Nothing for a name that is not known. */
export function drawSign(name, label) {
  const known = name === 'person.circle' ? 'person' : name;
  if (!PATHS[known]) return null;
  const spoken = label ? { role: 'img', 'aria-label': label } : { 'aria-hidden': 'true' };
  return vs('svg.phone-sign', { viewBox: '0 0 24 24', focusable: 'false', ...spoken }, vs('path', { d: PATHS[known] }));
}

/** Bars of the network, Wi-Fi and the battery, as they stand at the right of the status bar. */
export function drawStatusSigns({ airplane, isLowPower }) {
  const network = airplane ? drawSign('airplane') : [
    vs('svg.phone-status-sign', { key: 'bars', viewBox: '0 0 18 12', 'aria-hidden': 'true' },
      [0, 1, 2, 3].map((bar) => vs('rect', { x: bar * 4.7, y: 8 - bar * 2.6, width: 3.2, height: 4 + bar * 2.6, rx: 0.9 }))),
    vs('svg.phone-status-sign', { key: 'wifi', viewBox: '0 0 17 12', 'aria-hidden': 'true' },
      vs('path', { d: 'M8.500 2.300c2.400 0 4.600.9 6.300 2.500l1.200-1.300C13.900 1.600 11.300.5 8.500.5S3.100 1.600 1 3.500l1.200 1.300c1.700-1.600 3.900-2.500 6.300-2.500zm0 3.800c1.400 0 2.700.5 3.700 1.400l1.200-1.300a7.200 7.200 0 0 0-9.800 0l1.200 1.300c1-.9 2.300-1.400 3.700-1.400zm2.400 2.800a3.600 3.600 0 0 0-4.800 0l2.400 2.600z' })),
  ];
  return [network, vs('svg.phone-status-sign.phone-battery', { key: 'battery', class: isLowPower ? 'is-low-power' : '', viewBox: '0 0 27 12',
    'aria-hidden': 'true' },
    vs('rect.phone-battery-case', { x: 0.5, y: 0.5, width: 22, height: 11, rx: 3.4 }),
    vs('rect.phone-battery-level', { x: 2, y: 2, width: isLowPower ? 8 : 19, height: 8, rx: 2 }),
    vs('path', { d: 'M24 4.200v3.600c.8-.3 1.300-1 1.300-1.800S24.800 4.500 24 4.200z' }))];
}
