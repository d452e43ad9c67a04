import { type Component, registerHost, type Tools } from './hosts.ts';
import { limits } from './limits.ts';

registerHost('plain', createPlain);

/** A text that is too long or too deep to be read as markdown: as it is, and of a very long one the begin. */
function createPlain(host: HTMLElement, { words }: Tools): Component {
  let source = host.textContent ?? '';
  let showsAll = false;
  let text = '';
  const more = document.createElement('button');
  more.type = 'button';
  more.className = 'markdown-more';
  more.dataset['action'] = 'all';

  function show(): void {
    const shown = showsAll ? source : source.slice(0, limits.plain);
    if (text !== shown) {
      text = shown;
      more.remove();
      host.replaceChildren(...breakable(shown));
    }
    if (shown.length === source.length) {
      more.remove();
      return;
    }
    more.textContent = `${words.showAll} (${source.length.toLocaleString()})`;
    host.append(more);
  }

  host.classList.add('markdown-plain');
  host.replaceChildren();
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

/** Text with places where a word without end may break: browsers need a time to find them that grows with its square. */
function breakable(text: string): (string | HTMLElement)[] {
  const parts: (string | HTMLElement)[] = [];
  let from = 0;
  for (const { index, 0: word } of text.matchAll(/\S{300}/g)) {
    parts.push(text.slice(from, index + word.length), document.createElement('wbr'));
    from = index + word.length;
  }
  return [...parts, text.slice(from)];
}
