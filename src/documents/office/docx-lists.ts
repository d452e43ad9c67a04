import { readXml } from '../xml.ts';

const STYLE = /<w:pStyle w:val="([^"]*)"\s*\/>/g;
/** As far as the properties of a paragraph may go on behind its style: documents are written by anybody. */
const LONGEST_PROPERTIES = 5_000;
/** Styles that are derived from each other in a circle end somewhere. */
const LONGEST_LINEAGE = 10;

interface Style {
  basedOn?: string;
  /** The list that its paragraphs belong to. */
  list?: string;
  isHeading?: boolean;
}

/**
 * Paragraphs that are items of a list because their style says so (Word's "List Bullet", python-docx's only way to make
 * lists), with that said of themselves: it is all that the library looks at. Headings stay headings.
 */
export function listItemsByStyle(xml: string, stylesXml: string): string {
  const styles = readStyles(stylesXml);
  return xml.replace(STYLE, (mark, id: string, at: number) => {
    const list = listOf(styles, id);
    if (list === undefined) return mark;
    const [properties = '', ...rest] = xml.slice(at, at + LONGEST_PROPERTIES).split('</w:pPr>', 2);
    if (rest.length === 0 || properties.includes('<w:numPr>')) return mark;
    return `${mark}<w:numPr><w:ilvl w:val="0"/><w:numId w:val="${list}"/></w:numPr>`;
  });
}

function listOf(styles: ReadonlyMap<string, Style>, id: string): string | undefined {
  let style = styles.get(id);
  let list: string | undefined;
  for (let depth = 0; style !== undefined && depth < LONGEST_LINEAGE; depth += 1) {
    if (style.isHeading) return undefined;
    list ??= style.list;
    style = styles.get(style.basedOn ?? '');
  }
  // 0: no list, also where the style it is based on has one.
  return list !== undefined && /^[1-9]\d*$/.test(list) ? list : undefined;
}

function readStyles(xml: string): ReadonlyMap<string, Style> {
  const styles = new Map<string, Style>();
  let style: Style = {};
  readXml(xml, {
    open(name, attributes) {
      const value = attributes.get('w:val') ?? '';
      if (name === 'style') {
        style = {};
        styles.set(attributes.get('w:styleId') ?? '', style);
      } else if (name === 'basedOn') style.basedOn = value;
      else if (name === 'numId') style.list = value;
      else if (name === 'outlineLvl' && value !== '9') style.isHeading = true;
    },
  });
  return styles;
}
