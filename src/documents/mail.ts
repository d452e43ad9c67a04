import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime';
import { archiveText, type Conversion, type ConversionLimits, type Markdown, OverLimit, titled } from './conversion.ts';
import { claimOf, nameOfFetched } from './file-types.ts';
import { declareCharsets } from './mail-charsets.ts';
import { tidy } from './markdown.ts';

/** A part of a message: its name says what it is. */
type ConvertPart = (part: { readonly name: string; readonly bytes: Uint8Array }) => Promise<Conversion>;

/** Longest name of an attachment, and longest type, in characters; of a longer one the end counts. */
const LONGEST_NAME = 200;

/** Headers of which a message has at least one, even half of one. */
const OF_MESSAGES = new Set([
  'from',
  'to',
  'subject',
  'date',
  'received',
  'message-id',
  'mime-version',
  'content-type',
]);

/**
 * A message (RFC 5322, MIME): its subject as the heading, who wrote when to whom, its text, then every attachment below its
 * name: what became of it, or why nothing did. A message that is forwarded as a whole is an attachment like any other.
 * Undefined for what has none of a message's headers.
 */
export async function mailToMarkdown(
  bytes: Uint8Array,
  limits: ConversionLimits,
  convertPart: ConvertPart,
): Promise<Markdown | undefined> {
  const given = await parse(bytes);
  // Only then is it worth looking whether something is not declared.
  const isGarbled = [given.text, given.html, ...given.headers.map(({ value }) => value)].some(hasUnknown);
  const mail = isGarbled ? await parse(declareCharsets(bytes)) : given;
  if (!mail.headers.some(({ key }) => OF_MESSAGES.has(key))) return undefined;
  const { length } = mail.attachments;
  if (length > limits.entries) throw new OverLimit(`holds ${length} files; at most ${limits.entries} are converted`);
  const title = oneLine(mail.subject ?? '');
  const parts = [title === '' ? '' : `# ${title}`, envelope(mail), await body(mail, convertPart)];
  for (const attachment of mail.attachments) parts.push(await attached(attachment, convertPart));
  // No text holds a zero, but what a message calls text may.
  const text = tidy(parts.filter((part) => part.trim() !== '').join('\n\n')).replaceAll('\0', '');
  return titled(text, title);
}

/** Whether bytes were no letters in the encoding that they were taken to be in. */
function hasUnknown(text: string | undefined): boolean {
  return text?.includes('\ufffd') === true;
}

async function parse(bytes: Uint8Array): Promise<Email> {
  try {
    const { buffer } = bytes;
    // The parser copies what is only a view.
    const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength;
    return await PostalMime.parse(isWhole ? buffer : bytes, { forceRfc822Attachments: true });
  } catch (error) {
    // The parser's own limits: how deep parts nest, and how long all headers are.
    if (error instanceof Error && error.message.startsWith('Maximum'))
      throw new OverLimit('has too many headers, or parts that are nested too deeply', { cause: error });
    throw error;
  }
}

function envelope({ from, to, cc, date }: Email): string {
  const lines = [
    ['From', from === undefined ? '' : inWords([from])],
    ['To', inWords(to)],
    ['Cc', inWords(cc)],
    ['Date', oneLine(date ?? '')],
  ] as const;
  return lines.flatMap(([name, value]) => (value === '' ? [] : [`- ${name}: ${value}`])).join('\n');
}

function inWords(addresses: readonly Address[] = []): string {
  return addresses
    .map(({ name, address, group }) => {
      if (group !== undefined) return `${oneLine(name)}: ${inWords(group)}`;
      return oneLine(name === '' || address === '' ? name + address : `${name} <${address}>`);
    })
    .join(', ');
}

/** Plain text as it is; HTML only where there is none. */
async function body({ text, html }: Email, convertPart: ConvertPart): Promise<string> {
  if (text !== undefined && text.trim() !== '') return text;
  if (html === undefined || html.trim() === '') return '';
  const conversion = await convertPart({ name: 'message.html', bytes: Buffer.from(html) });
  return textOf(conversion, 'text/html');
}

async function attached(attachment: Attachment, convertPart: ConvertPart): Promise<string> {
  const { content, filename } = attachment;
  const type = oneLine(attachment.mimeType).slice(-LONGEST_NAME);
  const given = (filename ?? '').replace(/^.*[/\\]/s, '');
  const name = oneLine(given.slice(-LONGEST_NAME).toWellFormed());
  const heading = `## ${name === '' ? type : name}`;
  // Pictures and sounds become no text, and looking at them costs.
  if (/^(image|audio|video)\//.test(type) || typeof content === 'string') return `${heading}\n\n*(${type})*`;
  const conversion = await convertPart({ name: telling(name, type), bytes: new Uint8Array(content) });
  return `${heading}\n\n${textOf(conversion, type)}`;
}

/** A name that says what the file is. Programs give types worse than their users give names, but of messages. */
function telling(name: string, type: string): string {
  const isKnown = name.includes('.') && claimOf(name) !== undefined;
  return isKnown && type !== 'message/rfc822' ? name : nameOfFetched(name, type);
}

function textOf(conversion: Conversion, type: string): string {
  switch (conversion.kind) {
    case 'markdown':
    case 'text':
      return conversion.text;
    case 'archive': {
      const leftOut = conversion.rejected.map(({ name, reason }) => `*(${oneLine(name)}: ${reason})*`);
      return [archiveText(conversion.entries), ...leftOut].join('\n\n');
    }
    case 'rejected':
      return `*(${type}: ${conversion.reason})*`;
    default:
      return `*(${type})*`;
  }
}

/** Without line ends, and without the characters that turn text around or hide it. */
function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
}
