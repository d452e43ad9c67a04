import { readXml } from '../xml.ts';
import type { Package } from './package.ts';

/** What the styles of an OpenDocument file mean, where the library that reads the document does not tell. */
export interface Styles {
  /**
   * Which levels (0 is the outermost) of a list style are numbered; undefined for an unknown style. The library takes a style
   * for numbered when any of its levels is, but LibreOffice fills up to ten levels, whatever the outer ones are.
   */
  numberedLevels(style: string): ReadonlySet<number> | undefined;
  /** Whether text of a style is shown; undefined where neither it nor those it is derived from say so. */
  isShown(style: string): boolean | undefined;
  /** Whether any style hides text. */
  readonly hides: boolean;
  /** A style and those it is derived from: `P7`, made for one paragraph, and then `Preformatted_20_Text`. */
  lineage(style: string): readonly string[];
}

/** For documents whose styles need no explanation. */
export const NO_STYLES: Styles = {
  numberedLevels: () => undefined,
  isShown: () => undefined,
  hides: false,
  lineage: (style) => [style],
};

/** Styles that are derived from each other in a circle end somewhere. */
const LONGEST_LINEAGE = 10;

/** Reads `styles.xml` and `content.xml`; one that is missing has no styles. */
export function readStyles(parts: Package): Styles {
  const lists = new Map<string, Set<number>>();
  const parents = new Map<string, string>();
  const displays = new Map<string, boolean>();
  for (const path of ['styles.xml', 'content.xml']) {
    let list: Set<number> | undefined;
    let style = '';
    readXml(parts.text(path) ?? '', {
      open(name, attributes) {
        if (name === 'style') {
          style = attributes.get('style:name') ?? '';
          const parent = attributes.get('style:parent-style-name');
          if (parent !== undefined) parents.set(style, parent);
        } else if (name === 'text-properties') {
          const display = attributes.get('text:display');
          if (display !== undefined && style !== '') displays.set(style, display !== 'none');
        } else if (name === 'list-style') {
          list = new Set();
          lists.set(attributes.get('style:name') ?? '', list);
        } else if (name === 'list-level-style-number' && (attributes.get('style:num-format') ?? '') !== '') {
          list?.add(Number(attributes.get('text:level') ?? 1) - 1);
        }
      },
      close(name) {
        if (name === 'list-style') list = undefined;
        else if (name === 'style') style = '';
      },
    });
  }
  const lineage = (style: string): string[] => {
    const names = [style];
    for (let parent = parents.get(style); parent !== undefined && names.length < LONGEST_LINEAGE; ) {
      names.push(parent);
      parent = parents.get(parent);
    }
    return names;
  };
  return {
    numberedLevels: (style) => lists.get(style),
    isShown: (style) => displays.get(lineage(style).find((name) => displays.has(name)) ?? ''),
    hides: [...displays.values()].includes(false),
    lineage,
  };
}
