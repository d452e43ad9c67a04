/** A new element with properties (not attributes) and children; children that are null or false are left out. */
export function el(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const byId = (id) => document.getElementById(id);

/** Says something to those who cannot see the page. */
export function announce(text) {
  byId('status').textContent = text;
}

/** Copies text; navigator.clipboard is missing on plain http addresses other than localhost. */
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = el('textarea', { value: text, className: 'hidden' });
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

/** Makes a button copy what `read` returns when it is pressed, and say so for a moment. */
export function copies(button, read) {
  button.addEventListener('click', async () => {
    const label = button.textContent;
    const done = await copy(read()).then(
      () => 'Copied',
      () => 'Not allowed',
    );
    button.textContent = done;
    announce(done);
    setTimeout(() => {
      button.textContent = label;
    }, 1500);
  });
  return button;
}
