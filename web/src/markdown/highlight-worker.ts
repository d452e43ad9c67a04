/** Highlights code away from the page's thread, where even the worst text for a regular expression holds up nobody. */
import highlighter from 'highlight.js/lib/common';
import type { HighlightQuestion, HighlightWord, Run } from './highlight.ts';

interface Scope {
  onmessage: ((event: { readonly data: HighlightQuestion }) => void) | null;
  postMessage(word: HighlightWord): void;
}

const scope = globalThis as unknown as Scope;

scope.onmessage = ({ data: { id, code, language } }) => {
  const known = highlighter.getLanguage(language) !== undefined;
  scope.postMessage({
    id,
    lines: known ? linesOf(highlighter.highlight(code, { language, ignoreIllegals: true }).value) : [],
  });
};

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
};

/** The library's HTML, which is spans and escaped text only, as runs of one class each, line by line. */
function linesOf(html: string): Run[][] {
  const lines: Run[][] = [[]];
  const classes: string[] = [];
  for (const [piece] of html.matchAll(/<span class="[^"]*">|<\/span>|[^<]+/g)) {
    if (piece.startsWith('<span')) classes.push(piece.slice(13, -2));
    else if (piece === '</span>') classes.pop();
    else {
      const text = piece.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => ENTITIES[entity] ?? entity);
      for (const [index, part] of text.split('\n').entries()) {
        if (index > 0) lines.push([]);
        if (part !== '') lines.at(-1)?.push([part, classes.at(-1) ?? '']);
      }
    }
  }
  return lines;
}

scope.postMessage('there');
