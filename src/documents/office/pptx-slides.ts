import { elements, replaceElements } from './elements.ts';
import { type Package, relationships } from './package.ts';

/** Numbers, dates, headers and footers of slides (ECMA-376 part 1, §19.7.10) say nothing about what is on them. */
const DECORATION = /<p:ph\b[^<>]*\btype="(sldNum|dt|hdr|ftr)"/;

/** The XML of a slide, or of the notes to one, without what stands on every slide. */
export function withoutDecoration(slide: string): string {
  return replaceElements(slide, SHAPE, (shape) => (DECORATION.test(shape) ? '' : shape));
}

/** A shape with its text. Shapes do not nest; groups hold them side by side. */
const SHAPE = 'p:sp';
const PROPERTIES = /^<a:pPr\b[^<>]*?(\/)?>/;

/**
 * Bullets of slides mostly stand in the layout or the master, not in the slide: a body's paragraph has one unless something
 * says otherwise. The library that reads slides looks at the paragraph only, so the bullet is written there.
 */
export function withBullets(slide: string, path: string, parts: Package): string {
  const layoutPath = [...relationships(parts, path).values()].find((target) => /slideLayout/.test(target.address));
  const layout = layoutPath === undefined ? '' : (parts.text(layoutPath.address) ?? '');
  let levels: ReadonlyMap<string, ReadonlySet<number>> | undefined;
  return replaceElements(slide, SHAPE, (shape) => {
    const holder = placeholderOf(shape);
    if (holder === undefined) return shape;
    levels ??= levelsWithoutBullet(layout);
    const plainLevels = levels.get(holder.index);
    const [before = '', ...paragraphs] = shape.split('<a:p>');
    return [before, ...paragraphs.map((paragraph) => withBullet(paragraph, plainLevels))].join('<a:p>');
  });
}

/** What follows the start of a paragraph, with a bullet unless its level has none. */
function withBullet(paragraph: string, plainLevels: ReadonlySet<number> | undefined): string {
  const [properties = '', empty] = PROPERTIES.exec(paragraph) ?? [];
  const level = Number(/\blvl="(\d)"/.exec(properties)?.[1] ?? 0);
  if (plainLevels?.has(level) || decides(paragraph, properties !== '' && empty === undefined)) return paragraph;
  const open = properties === '' ? '<a:pPr>' : empty === undefined ? properties : `${properties.slice(0, -2)}>`;
  const close = properties === '' || empty !== undefined ? '</a:pPr>' : '';
  return `${open}<a:buChar char="•"/>${close}${paragraph.slice(properties.length)}`;
}

/** Whether a paragraph itself says what its bullet is, or has no text to put one before. */
function decides(paragraph: string, hasProperties: boolean): boolean {
  const [content = ''] = paragraph.split('</a:p>', 1);
  if (!content.includes('<a:t>')) return true;
  return hasProperties && /<a:bu(None|Char|AutoNum|Blip)\b/.test(content.slice(0, content.indexOf('</a:pPr>')));
}

/** The placeholder that a shape fills when it is one for body text (ECMA-376 part 1, §19.7.10); titles have no bullets. */
function placeholderOf(shape: string): { readonly index: string } | undefined {
  const mark = /<p:ph\b([^<>]*)>/.exec(shape)?.[1];
  if (mark === undefined) return undefined;
  const type = /\btype="(\w+)"/.exec(mark)?.[1] ?? 'obj';
  return type === 'body' || type === 'obj' ? { index: /\bidx="(\d+)"/.exec(mark)?.[1] ?? '0' } : undefined;
}

/** Levels for which the layout's own placeholders take the master's bullets away, by the placeholder's index. */
function levelsWithoutBullet(layout: string): ReadonlyMap<string, ReadonlySet<number>> {
  const all = new Map<string, ReadonlySet<number>>();
  for (const shape of elements(layout, SHAPE)) {
    const holder = placeholderOf(shape);
    if (holder === undefined || all.has(holder.index)) continue;
    const levels = Array.from({ length: 9 }, (_, level) => level);
    const isPlain = (level: number): boolean =>
      [...elements(shape, `a:lvl${level + 1}pPr`)].some((style) => style.includes('<a:buNone'));
    all.set(holder.index, new Set(levels.filter(isPlain)));
  }
  return all;
}
