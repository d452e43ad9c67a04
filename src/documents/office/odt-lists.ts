import { readXml } from '../xml.ts';
import type { Package } from './package.ts';

/** List style → which of its levels (0 is the outermost) are numbered. */
export type NumberedLevels = ReadonlyMap<string, ReadonlySet<number>>;

/**
 * Which levels of a document's list styles are numbered. The library that reads the document takes a style for numbered
 * when any of its levels is, but LibreOffice fills up to ten levels, whatever the outer ones are.
 */
export function numberedLevels(parts: Package): NumberedLevels {
  const styles = new Map<string, Set<number>>();
  for (const path of ['styles.xml', 'content.xml']) {
    let style: Set<number> | undefined;
    readXml(parts.text(path) ?? '', {
      open(name, attributes) {
        if (name === 'list-style') {
          style = new Set();
          styles.set(attributes.get('style:name') ?? '', style);
        } else if (name === 'list-level-style-number' && (attributes.get('style:num-format') ?? '') !== '') {
          style?.add(Number(attributes.get('text:level') ?? 1) - 1);
        }
      },
      close(name) {
        if (name === 'list-style') style = undefined;
      },
    });
  }
  return styles;
}
