import { type Component, registerHost, type Tools } from './hosts.ts';
import { limits } from './limits.ts';

registerHost('plain', createPlain);

/** A text that is too long or too deep to be read as markdown: as it is, and of a very long one the begin. */
function createPlain(host: HTMLElement, { words }: Tools): Component {
  let source = host.textContent ?? '';
  let showsAll = false;
  const text = document.createTextNode('');
  const more = document.createElement('button');
  more.type = 'button';
  more.className = 'markdown-more';
  more.dataset['action'] = 'all';

  function show(): void {
    const shown = showsAll ? source : source.slice(0, limits.plain);
    if (text.data !== shown) {
      if (shown.startsWith(text.data)) text.appendData(shown.slice(text.data.length));
      else text.data = shown;
    }
    if (shown.length === source.length) {
      more.remove();
      return;
    }
    more.textContent = `${words.showAll} (${source.length.toLocaleString()})`;
    host.append(more);
  }

  host.classList.add('markdown-plain');
  host.replaceChildren(text);
  show();
  return {
    update: (wanted) => {
      source = wanted.textContent ?? '';
      show();
    },
    act: () => {
      showsAll = true;
      show();
    },
  };
}
