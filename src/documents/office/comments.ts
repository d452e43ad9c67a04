import type { OfficeContentNode } from 'officeparser';

/** Comments on text as footnotes, each one note however often it is referred to: the library writes the same node once. */
export class CommentNotes {
  readonly #notes = new Map<OfficeContentNode, OfficeContentNode>();

  of(node: OfficeContentNode, repair: (comment: OfficeContentNode) => OfficeContentNode): OfficeContentNode[] {
    return (node.comments ?? []).map((comment) => {
      const known = this.#notes.get(comment);
      if (known !== undefined) return known;
      const { children = [] } = repair({ ...comment, children: signed(comment) });
      const noteId = `comment${this.#notes.size + 1}`;
      const note: OfficeContentNode = { type: 'note', children, metadata: { noteType: 'footnote', noteId } };
      this.#notes.set(comment, note);
      return note;
    });
  }
}

/** Comments on a slide as a whole, below what is on it. */
export function slideComments(node: OfficeContentNode): OfficeContentNode[] {
  return (node.comments ?? [])
    .flatMap(signed)
    .map((paragraph) => ({ ...paragraph, metadata: { style: 'Quote' } }) as OfficeContentNode);
}

/** The paragraphs of a comment, the first of which says that it is one, and whose. */
function signed({ children = [], metadata }: OfficeContentNode): OfficeContentNode[] {
  const author = (metadata as { author?: unknown } | undefined)?.author;
  const [first = { type: 'paragraph' }, ...rest] = children;
  const by = typeof author === 'string' && author.trim() !== '' ? ` by ${author.trim()}` : '';
  const signature: OfficeContentNode = { type: 'text', text: `Comment${by}: ` };
  return [{ ...first, children: [signature, ...(first.children ?? [])] } as OfficeContentNode, ...rest];
}
