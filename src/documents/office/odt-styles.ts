import { readXml } from '../xml.ts';
import type { Package } from './package.ts';

/** What the styles of an OpenDocument file mean, where the library that reads the document does not tell. */
export interface Styles {
  /**
   * Which levels (0 is the outermost) of a list style are numbered; undefined for an unknown style. The library takes a style
   * for numbered when any of its levels is, but LibreOffice fills up to ten levels, whatever the outer ones are.
   */
  numberedLevels(style: string): ReadonlySet<number> | undefined;
  /** A style and those it is derived from: `P7`, made for one paragraph, and then `Preformatted_20_Text`. */
  lineage(style: string): readonly string[];
}

/** For documents whose styles need no explanation. */
export const NO_STYLES: Styles = { numberedLevels: () => undefined, lineage: (style) => [style] };

/** Styles that are derived from each other in a circle end somewhere. */
const LONGEST_LINEAGE = 10;

export function readStyles(parts: Package): Styles {
  const lists = new Map<string, Set<number>>();
  const parents = new Map<string, string>();
  for (const path of ['styles.xml', 'content.xml']) {
    let list: Set<number> | undefined;
    readXml(parts.text(path) ?? '', {
      open(name, attributes) {
        if (name === 'style') {
          const parent = attributes.get('style:parent-style-name');
          if (parent !== undefined) parents.set(attributes.get('style:name') ?? '', parent);
        } else if (name === 'list-style') {
          list = new Set();
          lists.set(attributes.get('style:name') ?? '', list);
        } else if (name === 'list-level-style-number' && (attributes.get('style:num-format') ?? '') !== '') {
          list?.add(Number(attributes.get('text:level') ?? 1) - 1);
        }
      },
      close(name) {
        if (name === 'list-style') list = undefined;
      },
    });
  }
  return {
    numberedLevels: (style) => lists.get(style),
    lineage(style) {
      const names = [style];
      for (let parent = parents.get(style); parent !== undefined && names.length < LONGEST_LINEAGE; ) {
        names.push(parent);
        parent = parents.get(parent);
      }
      return names;
    },
  };
}
