import type { OfficeContentNode } from 'officeparser';
import { CommentNotes, slideComments } from './comments.ts';
import type { Styles } from './odt-styles.ts';

/** Styles of word processors for program text; `_20_` is a space in OpenDocument's names. */
const CODE_PARAGRAPH = /^(source ?code|preformatted( ?text)?|html ?preformatted|code( ?block)?|verbatim|listing)$/i;
const CODE_TEXT = /^(source ?text|verbatim ?char|html ?(code|sample|keyboard)|teletype|code( ?char)?|inline ?code)$/i;
const QUOTE = /^(block ?text|block ?quote|quotations?|quote|intense ?quote)$/i;
const MONOSPACE =
  /\b(mono|monospace|courier( new)?|consolas|menlo|monaco|lucida console|cascadia code|source code pro)\b/i;

/** Above this share of monospaced text a document is typewritten, and none of it is code for that. */
const TYPEWRITTEN = 0.5;

interface Context {
  readonly styles: Styles;
  readonly isTypewritten: boolean;
  readonly comments: CommentNotes;
}

/**
 * Repairs what the library that reads documents leaves out or adds, on its tree, before that becomes markdown: code and
 * quotations that are only styles, headings that are bold because headings are, underlines, numbers where bullets were,
 * comments.
 */
export function repairTree(nodes: readonly OfficeContentNode[], styles: Styles): OfficeContentNode[] {
  const length = (all: readonly OfficeContentNode[], counts: (node: OfficeContentNode) => boolean): number =>
    all.reduce((sum, node) => {
      const own = node.type === 'text' && counts(node) ? (node.text ?? '').length : 0;
      return sum + own + length(node.children ?? [], counts);
    }, 0);
  const isTypewritten = length(nodes, isMonospaced) > length(nodes, () => true) * TYPEWRITTEN;
  return repair(nodes, { styles, isTypewritten, comments: new CommentNotes() });
}

function repair(nodes: readonly OfficeContentNode[], context: Context): OfficeContentNode[] {
  const repaired: OfficeContentNode[] = [];
  for (const node of nodes) {
    if (node.type === 'sheet') {
      repaired.push(...sheet({ ...node, children: repair(node.children ?? [], context) }));
      continue;
    }
    const code = node.type === 'paragraph' && isStyle(CODE_PARAGRAPH, node, context) ? plainText(node) : undefined;
    const last = repaired.at(-1);
    if (code === undefined) repaired.push(repairNode(node, context));
    else if (last?.type === 'code' && last.metadata?.math === undefined) last.text = `${last.text}\n${code}`;
    else repaired.push({ type: 'code', text: code });
  }
  return repaired;
}

function repairNode(node: OfficeContentNode, context: Context): OfficeContentNode {
  const isSlide = node.type === 'slide';
  const content = isSlide ? [...(node.children ?? []), ...slideComments(node)] : node.children;
  const children = content === undefined ? {} : { children: repair(content, context) };
  const notes = (node.notes ?? []).map((note) => trimNote(repairNode(note, context)));
  if (!isSlide) notes.push(...context.comments.of(node, (comment) => repairNode(comment, context)));
  const repaired = { ...node, ...children, ...(notes.length === 0 ? {} : { notes }) };
  delete repaired.comments;
  switch (repaired.type) {
    case 'heading':
      return { ...repaired, children: withoutEmphasis(repaired.children ?? []) };
    case 'cell':
      return repaired.metadata?.style === 'header' ? headerCell(repaired) : repaired;
    case 'paragraph':
      return isStyle(QUOTE, repaired, context)
        ? { ...repaired, metadata: { ...repaired.metadata, style: 'Quote' } }
        : repaired;
    case 'list': {
      const levels = context.styles.numberedLevels(repaired.metadata?.listId ?? '');
      if (levels === undefined || repaired.metadata === undefined) return repaired;
      const listType = levels.has(repaired.metadata.indentation) ? 'ordered' : 'unordered';
      return { ...repaired, metadata: { ...repaired.metadata, listType } };
    }
    case 'code':
      // A command of TeX ends where no letter follows.
      return repaired.metadata?.math === undefined
        ? repaired
        : { ...repaired, text: (repaired.text ?? '').replace(/\\frac(?=[a-z])/gi, '\\frac ') };
    case 'text':
      return text(repaired, context);
    default:
      return repaired;
  }
}

function text(node: OfficeContentNode & { type: 'text' }, context: Context): OfficeContentNode {
  const { underline: _, ...formatting } = node.formatting ?? {};
  const isCode = isStyle(CODE_TEXT, node, context) || (isMonospaced(node) && !context.isTypewritten);
  // The library writes a code span for this font, and for no other.
  return { ...node, formatting: isCode ? { font: 'monospace' } : { ...formatting, font: '' } };
}

/** Emphasis that all of a heading has comes from its style; part of a heading may still be set apart. */
function withoutEmphasis(children: readonly OfficeContentNode[]): OfficeContentNode[] {
  const texts = children.filter((child) => (child.text ?? '').trim() !== '');
  const all = (mark: 'bold' | 'italic'): boolean => texts.every((child) => child.formatting?.[mark] === true);
  const [bold, italic] = [all('bold'), all('italic')];
  return children.map((child) => {
    if (child.type !== 'text') return child;
    const formatting = { ...child.formatting };
    if (bold) delete formatting.bold;
    if (italic) delete formatting.italic;
    return { ...child, formatting };
  });
}

function headerCell(cell: OfficeContentNode): OfficeContentNode {
  const children = (cell.children ?? []).map((each) => ({ ...each, children: withoutEmphasis(each.children ?? []) }));
  return { ...cell, children };
}

/** A tab stands between a note's number and its text. */
function trimNote(note: OfficeContentNode): OfficeContentNode {
  const [first, ...rest] = note.children ?? [];
  const [leading, ...others] = first?.children ?? [];
  if (first === undefined || leading?.type !== 'text') return note;
  const trimmed = { ...leading, text: (leading.text ?? '').trimStart() };
  return { ...note, children: [{ ...first, children: [trimmed, ...others] }, ...rest] };
}

/** A sheet as a heading and one table; a cell that spans others is followed by empty ones. */
function sheet(node: OfficeContentNode & { type: 'sheet' }): OfficeContentNode[] {
  if (node.children === undefined || node.children.length === 0) return [];
  const heading = { type: 'heading', metadata: { level: 2 }, text: node.metadata?.sheetName ?? '' } as const;
  const children: OfficeContentNode[] = [{ type: 'text', text: heading.text }];
  return [
    { ...heading, children },
    { type: 'table', children: node.children },
  ];
}

function isMonospaced(node: OfficeContentNode): boolean {
  return MONOSPACE.test(node.formatting?.font ?? '');
}

function isStyle(pattern: RegExp, node: OfficeContentNode, { styles }: Context): boolean {
  const style = (node.metadata as { style?: unknown } | undefined)?.style;
  return typeof style === 'string' && styles.lineage(style).some((name) => pattern.test(name.replaceAll('_20_', ' ')));
}

function plainText(node: OfficeContentNode): string {
  if (node.type === 'break') return '\n';
  if (node.children === undefined || node.children.length === 0) return node.text ?? '';
  return node.children.map(plainText).join('');
}
