import { type Package, relationships } from './package.ts';

/** Numbers, dates, headers and footers of slides (ECMA-376 part 1, §19.7.10) say nothing about what is on them. */
const DECORATION = /<p:ph\b[^>]*\btype="(sldNum|dt|hdr|ftr)"/;

/** The XML of a slide, or of the notes to one, without what stands on every slide. */
export function withoutDecoration(slide: string): string {
  return slide.replace(SHAPE, (shape) => (DECORATION.test(shape) ? '' : shape));
}

/** A shape with its text, and the paragraphs inside it. Shapes do not nest; groups hold them side by side. */
const SHAPE = /<p:sp\b[^>]*>.*?<\/p:sp>/gs;
const PARAGRAPH = /<a:p>(<a:pPr\b[^>]*?(\/)?>)?/g;

/**
 * Bullets of slides mostly stand in the layout or the master, not in the slide: a body's paragraph has one unless something
 * says otherwise. The library that reads slides looks at the paragraph only, so the bullet is written there.
 */
export function withBullets(slide: string, path: string, parts: Package): string {
  const layoutPath = [...relationships(parts, path).values()].find((target) => /slideLayout/.test(target.address));
  const layout = layoutPath === undefined ? '' : (parts.text(layoutPath.address) ?? '');
  return slide.replace(SHAPE, (shape) => {
    const holder = placeholderOf(shape);
    if (holder === undefined) return shape;
    const plainLevels = levelsWithoutBullet(layout, holder);
    return shape.replace(
      PARAGRAPH,
      (mark: string, properties: string | undefined, empty: string | undefined, at: number) => {
        const level = Number(/\blvl="(\d)"/.exec(properties ?? '')?.[1] ?? 0);
        if (plainLevels.has(level) || decides(shape, at, properties, empty)) return mark;
        if (properties === undefined) return '<a:p><a:pPr><a:buChar char="•"/></a:pPr>';
        return empty === undefined
          ? `${mark}<a:buChar char="•"/>`
          : `<a:p>${properties.slice(0, -2)}><a:buChar char="•"/></a:pPr>`;
      },
    );
  });
}

/** Whether a paragraph itself says what its bullet is, or has no text to put one before. */
function decides(shape: string, at: number, properties: string | undefined, empty: string | undefined): boolean {
  const end = shape.indexOf('</a:p>', at);
  const paragraph = shape.slice(at, end === -1 ? undefined : end);
  if (!paragraph.includes('<a:t>')) return true;
  if (properties === undefined || empty !== undefined) return false;
  return /<a:bu(None|Char|AutoNum|Blip)\b/.test(paragraph.slice(0, paragraph.indexOf('</a:pPr>')));
}

interface Placeholder {
  readonly type: string;
  readonly index: string;
}

/** The placeholder that a shape fills when it is one for body text (ECMA-376 part 1, §19.7.10); titles have no bullets. */
function placeholderOf(shape: string): Placeholder | undefined {
  const mark = /<p:ph\b([^>]*)>/.exec(shape)?.[1];
  if (mark === undefined) return undefined;
  const type = /\btype="(\w+)"/.exec(mark)?.[1] ?? 'obj';
  return type === 'body' || type === 'obj' ? { type, index: /\bidx="(\d+)"/.exec(mark)?.[1] ?? '0' } : undefined;
}

/** Levels for which the layout's own placeholder takes the master's bullets away. */
function levelsWithoutBullet(layout: string, { index }: Placeholder): Set<number> {
  const shape = (layout.match(SHAPE) ?? []).find((each) => placeholderOf(each)?.index === index) ?? '';
  const levels = new Set<number>();
  for (const [, level, style] of shape.matchAll(/<a:lvl(\d)pPr\b[^>]*>(.*?)<\/a:lvl\1pPr>/gs)) {
    if (style?.includes('<a:buNone')) levels.add(Number(level) - 1);
  }
  return levels;
}
