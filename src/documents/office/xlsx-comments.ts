import { readXml } from '../xml.ts';
import { type Package, relationships } from './package.ts';

/** What somebody remarked about a cell, `B7`. */
export interface Comment {
  readonly reference: string;
  readonly text: string;
}

/** Comments to the cells of a sheet: threads where there are any, of which the comments of old are only copies. */
export function readComments(parts: Package, sheetPath: string): Comment[] {
  const addresses = [...relationships(parts, sheetPath).values()].map(({ address }) => address);
  const read = (pattern: RegExp): string[] =>
    addresses.flatMap((address) => (pattern.test(address) ? (parts.text(address) ?? []) : []));
  const threads = read(/(?:^|\/)threadedComment[^/]*\.xml$/i);
  if (threads.length === 0) return read(/(?:^|\/)comments?[^/]*\.xml$/i).flatMap(readNotes);
  const people = readPeople(parts);
  return threads.flatMap((xml) => readThreads(xml, people));
}

/** `xl/comments1.xml` (ECMA-376 part 1, §18.7). Excel writes who it is from into the text as well. */
function readNotes(xml: string): Comment[] {
  const comments: Comment[] = [];
  const authors: string[] = [];
  let [reference, author, text] = ['', '', ''];
  let into: 'author' | 'text' | undefined;
  readXml(xml, {
    open(name, attributes) {
      if (name === 'author') {
        into = name;
        author = '';
      } else if (name === 't') into = 'text';
      else if (name === 'comment') {
        reference = attributes.get('ref') ?? '';
        author = authors[Number(attributes.get('authorId'))] ?? '';
        text = '';
      }
    },
    close(name) {
      if (name === 'author') authors.push(author.trim());
      if (name === 'author' || name === 't') into = undefined;
      if (name === 'comment') {
        const isSigned = author !== '' && text.trimStart().startsWith(`${author}:`);
        comments.push({ reference, text: told(author, isSigned ? text.trimStart().slice(author.length + 1) : text) });
      }
    },
    text(piece) {
      if (into === 'author') author += piece;
      if (into === 'text') text += piece;
    },
  });
  return comments;
}

/** `xl/threadedComments/threadedComment1.xml` (MS-XLSX, §2.6.205); answers follow what they answer. */
function readThreads(xml: string, people: ReadonlyMap<string, string>): Comment[] {
  const comments: Comment[] = [];
  let [reference, author, text] = ['', '', ''];
  readXml(xml, {
    open(name, attributes) {
      if (name !== 'threadedComment') return;
      reference = attributes.get('ref') ?? '';
      author = people.get(attributes.get('personId') ?? '') ?? '';
      text = '';
    },
    close(name) {
      if (name === 'threadedComment') comments.push({ reference, text: told(author, text) });
    },
    text(piece) {
      text += piece;
    },
  });
  return comments;
}

function readPeople(parts: Package): Map<string, string> {
  const people = new Map<string, string>();
  for (const path of parts.paths.filter((each) => /(^|\/)persons\/[^/]+\.xml$/i.test(each)))
    readXml(parts.text(path) ?? '', {
      open(name, attributes) {
        if (name === 'person') people.set(attributes.get('id') ?? '', attributes.get('displayName') ?? '');
      },
    });
  return people;
}

function told(author: string, text: string): string {
  return `Comment${author === '' ? '' : ` by ${author}`}: ${text.trim().replace(/(?<!\s)\s*\n\s*/g, '\n    ')}`;
}
