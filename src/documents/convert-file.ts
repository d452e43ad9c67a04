import { HEAD_BYTES } from '../media/kind.ts';
import { convertArchive, type Progress } from './archive.ts';
import { type Budget, type Conversion, inWords, type Markdown, OverLimit, Refusal, rejected } from './conversion.ts';
import { csvToMarkdown } from './csv.ts';
import { extensionOf } from './file-types.ts';
import { type Identity, identify } from './identify.ts';
import { readImage } from './image.ts';
import type { Libraries } from './libraries.ts';
import { load } from './load.ts';
import { notebookToMarkdown } from './notebook.ts';
import { openPackage } from './office/package.ts';
import { decodeText } from './text.ts';
import { openZip } from './zip.ts';

/** Messages inside of messages: each level costs the memory of all below it. */
const DEEPEST_MAIL = 5;

/** A file to convert, whole. */
export interface File {
  /** As the user named it; its extension counts. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** What it takes to convert a file. */
export interface Workshop {
  readonly libraries: Libraries;
  readonly budget: Budget;
  readonly onProgress: (progress: Progress) => void;
  /** Is told what was thrown on the way, for the log; nothing of it is for the user. */
  readonly onFault: (error: unknown) => void;
  /** The file is a member of an archive. */
  readonly isMember?: true;
  /** How many messages the file is attached inside of. */
  readonly mailDepth?: number;
}

/**
 * Converts one file, in this thread and for as long as it takes: time and memory are the caller's business. What the file is
 * at fault for comes back as `rejected`, and so does whatever a library threw: those fail in many ways on damaged files.
 */
export async function convertFile(file: File, workshop: Workshop): Promise<Conversion> {
  try {
    const identity = identify(file.name, file.bytes.subarray(0, HEAD_BYTES));
    return withinBudget(await convert(file, identity, workshop), workshop.budget);
  } catch (error) {
    if (error instanceof Refusal) {
      if (error.cause !== undefined) workshop.onFault(error.cause);
      return rejected(error);
    }
    workshop.onFault(error);
    if (error instanceof RangeError) return { kind: 'rejected', reason: 'is nested too deeply, or too large' };
    return { kind: 'rejected', reason: 'could not be read' };
  }
}

async function convert({ name, bytes }: File, identity: Identity, workshop: Workshop): Promise<Conversion> {
  const { libraries } = workshop;
  switch (identity.kind) {
    case 'text':
      return { kind: 'text', text: decodeText(bytes) };
    case 'csv':
      return markdown({ text: csvToMarkdown(decodeText(bytes), extensionOf(name) === 'tsv' ? '\t' : undefined) });
    case 'notebook':
      return markdown({ text: notebookToMarkdown(decodeText(bytes)) });
    case 'html':
      return await convertHtml(decodeText(bytes), libraries);
    case 'mail':
      return await convertMail(bytes, workshop);
    case 'pdf':
      return markdown((await load(libraries.pdf))(bytes));
    case 'rtf':
      return markdown(await (await load(libraries.rtf))(bytes, workshop.budget.limits));
    case 'package':
    case 'zip':
      return await convertZip(bytes, identity.kind, workshop);
    case 'image':
      return await convertImage(bytes, identity.mimeType, workshop);
    default:
      return { kind: identity.kind, mimeType: identity.mimeType };
  }
}

async function convertHtml(html: string, libraries: Libraries): Promise<Conversion> {
  const toMarkdown = await libraries.html().catch(() => undefined);
  // Without the converter it is at least what it says it is: text.
  return toMarkdown === undefined ? { kind: 'text', text: html } : markdown(toMarkdown(html));
}

async function convertMail(bytes: Uint8Array, workshop: Workshop): Promise<Conversion> {
  const { libraries, budget, mailDepth = 0 } = workshop;
  if (mailDepth >= DEEPEST_MAIL) throw new OverLimit(`is a message inside of ${mailDepth} others`);
  const toMarkdown = await load(libraries.mail);
  const inside: Workshop = { ...workshop, mailDepth: mailDepth + 1 };
  const { textLength } = budget;
  try {
    const made = await toMarkdown(bytes, budget.limits, (part) => convertFile(part, inside));
    return made === undefined ? { kind: 'text', text: decodeText(bytes) } : markdown(made);
  } finally {
    // What became of its parts is in the text of the whole, and is to count once.
    budget.textLength = textLength;
  }
}

async function convertZip(bytes: Uint8Array, claim: 'package' | 'zip', workshop: Workshop): Promise<Conversion> {
  const zip = openZip(bytes, workshop.budget);
  const parts = openPackage(zip);
  if (parts !== undefined) {
    const toMarkdown = await load(workshop.libraries.office);
    return markdown(await toMarkdown(parts, workshop.budget.limits));
  }
  if (claim === 'package') throw new Refusal('is not a document, though its name says so');
  if (workshop.isMember) throw new Refusal('is an archive inside an archive');
  return await convertArchive(zip, workshop.onProgress, (file) => convertFile(file, { ...workshop, isMember: true }));
}

async function convertImage(bytes: Uint8Array, mimeType: string, workshop: Workshop): Promise<Conversion> {
  const { libraries, budget, isMember, mailDepth } = workshop;
  // Nothing of a picture inside of another file is kept, and there may be hundreds: looking at them would take all the time there is.
  if (isMember || mailDepth !== undefined) return { kind: 'image', mimeType };
  const open = await libraries.image().catch(() => undefined);
  if (open === undefined) return { kind: 'image', mimeType };
  return { kind: 'image', mimeType, ...(await readImage(bytes, budget.limits, open)) };
}

function markdown(made: Markdown): Conversion {
  if (made.text.trim() === '') throw new Refusal('has no text in it');
  return { kind: 'markdown', ...made };
}

function withinBudget(conversion: Conversion, budget: Budget): Conversion {
  if (conversion.kind === 'text' || conversion.kind === 'markdown') {
    if (conversion.text.length > budget.textLength) {
      throw new OverLimit(`becomes more than ${inWords(budget.limits.unpackedBytes)} of text`);
    }
    budget.textLength -= conversion.text.length;
  }
  return conversion;
}
