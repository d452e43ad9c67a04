import { byId, el } from './dom.js';

/** Enough for every model that sees; a photograph as it comes from a camera would exceed the limit of a request. */
const LONGEST_SIDE = 1568;

let attached = [];

/** What is attached now; it is detached with that. */
export function takeImages() {
  const taken = attached;
  attached = [];
  show();
  return taken;
}

export async function attach(files) {
  for (const file of files) {
    if (file.type.startsWith('image/')) attached.push(await toDataUri(file).catch(() => null));
  }
  attached = attached.filter(Boolean);
  show();
}

async function toDataUri(file) {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, LONGEST_SIDE / Math.max(bitmap.width, bitmap.height));
  const canvas = el('canvas', { width: bitmap.width * scale, height: bitmap.height * scale });
  const context = canvas.getContext('2d');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL('image/jpeg', 0.9);
}

function show() {
  const remove = (src) => () => {
    attached = attached.filter((each) => each !== src);
    show();
  };
  const items = attached.map((src) => {
    const button = el(
      'button',
      { type: 'button', ariaLabel: 'Remove image', title: 'Remove', onclick: remove(src) },
      '×',
    );
    return el('li', {}, el('img', { src, alt: 'Attached image' }), button);
  });
  byId('attached').replaceChildren(...items);
  byId('attached').hidden = items.length === 0;
}
