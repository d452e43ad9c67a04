/** Markdown → DOM nodes. Text only ever becomes text nodes, so that whatever a model writes stays words. */
import { copies, el } from './dom.js';

/** Beyond these a text stays plain: looking for pairs of marks would take too long, and nesting has to end. */
const LONGEST_INLINE = 8000;
const DEEPEST = 8;

const INLINE = new RegExp(
  [
    '\\\\([\\\\`*_{}\\[\\]()#+.!|~-])', // 1 escaped
    '(`+)(.+?)\\2(?!`)', // 2, 3 code
    '(!?)\\[([^\\]\\n]*)\\]\\(([^()\\s]*(?:\\([^()\\s]*\\)[^()\\s]*)*)(?: "[^"\\n]*")?\\)', // 4 image, 5 text, 6 address
    '\\*\\*(?=\\S)(.+?\\*?)\\*\\*', // 7 bold
    '\\*(?=[^\\s*])(.+?)\\*', // 8 italic
    '(?<!\\w)_(?=[^\\s_])(.+?)_(?!\\w)', // 9 italic
    '~~(?=\\S)(.+?)~~', // 10 struck
    '(https?://[^\\s<>"\'`]*[^\\s<>"\'`.,:;!?)\\]}*])', // 11 bare address
    '(<br ?/?>)', // 12 the one HTML tag that models write all the time, in tables
  ].join('|'),
  'gs',
);

function inline(text) {
  if (text.length > LONGEST_INLINE) return [text];
  const nodes = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    nodes.push(text.slice(from, match.index));
    nodes.push(marked(match));
    from = match.index + match[0].length;
  }
  nodes.push(text.slice(from));
  return nodes.filter((node) => node !== '');
}

function marked([whole, escaped, , code, picture, label, address, bold, italic, italic2, struck, bare, newLine]) {
  if (escaped !== undefined) return escaped;
  if (code !== undefined) return el('code', {}, code.replace(/^ (.*) $/s, '$1'));
  if (address !== undefined) return picture ? image(label, address) : link(inline(label), address, whole);
  if (bold !== undefined) return el('strong', {}, ...inline(bold));
  if (struck !== undefined) return el('del', {}, ...inline(struck));
  if (newLine !== undefined) return el('br');
  if (bare !== undefined) return link([bare], bare, whole);
  return el('em', {}, ...inline(italic ?? italic2));
}

/** Only addresses of web pages become links. */
function link(children, address, whole) {
  if (!/^https?:\/\/[^\s]+$/i.test(address) || !URL.canParse(address)) return whole;
  return el('a', { href: address, target: '_blank', rel: 'noopener noreferrer nofollow' }, ...children);
}

/** Pictures from this server or inside the text are shown; one from elsewhere would tell its host who reads it. */
function image(alt, address) {
  const own = /^\/(?:media|images)\/[\w%.-]+$/.test(address);
  const inside = /^data:image\/(?:png|jpeg|gif|webp);base64,[\w+/=]+$/.test(address);
  return own || inside ? el('img', { src: address, alt, loading: 'lazy' }) : link([alt || 'Picture'], address, alt);
}

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*)$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}> ?(.*)$/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( {1,4}|$)(.*)$/;
const TABLE_LINE = /^\|? *:?-+:? *(\| *:?-+:? *)*\|?$/;
const STARTS = [FENCE, HEADING, RULE, QUOTE, ITEM];

const isBlank = (line) => line.trim() === '';
const startsBlock = (line) => STARTS.some((start) => start.test(line));

function startsTable(lines, at) {
  const [head, line = ''] = [lines[at], lines[at + 1]];
  return head.includes('|') && line.includes('-') && line.length < 500 && TABLE_LINE.test(line.trim());
}

/** Reads one block that starts at line `at`; returns the line after it and how to make its node. */
function block(lines, at, depth) {
  const line = lines[at];
  const code = FENCE.exec(line);
  if (code) return fence(lines, at, code);
  const heading = HEADING.exec(line);
  if (heading) {
    const text = heading[2].trim().replace(/ #+$/, '');
    return { end: at + 1, make: () => el(`h${Math.min(6, heading[1].length + 1)}`, {}, ...inline(text)) };
  }
  if (RULE.test(line)) return { end: at + 1, make: () => el('hr') };
  if (depth < DEEPEST && QUOTE.test(line)) return quote(lines, at, depth);
  if (depth < DEEPEST && ITEM.test(line)) return list(lines, at, depth);
  if (startsTable(lines, at)) return table(lines, at);
  let end = at + 1;
  while (end < lines.length && !isBlank(lines[end]) && !startsBlock(lines[end]) && !startsTable(lines, end)) end += 1;
  const text = lines
    .slice(at, end)
    .map((each) => each.trim())
    .join('\n');
  return { end, make: () => el('p', {}, ...inline(text)) };
}

function fence(lines, at, [opening, marks, language]) {
  const indent = opening.search(/\S/);
  let end = at + 1;
  const closes = (line) => line.trim().startsWith(marks) && line.trim().replaceAll(marks[0], '') === '';
  while (end < lines.length && !closes(lines[end])) end += 1;
  const text = lines
    .slice(at + 1, end)
    .map((line) => line.slice(Math.min(indent, line.search(/\S|$/))))
    .join('\n');
  return { end: end + 1, make: () => codeBlock(text, language) };
}

function codeBlock(text, language) {
  const button = copies(el('button', { type: 'button', className: 'small', textContent: 'Copy' }), () => text);
  const head = el('div', { className: 'code-head' }, el('span', {}, language || 'text'), button);
  return el('div', { className: 'code' }, head, el('pre', { tabIndex: 0 }, el('code', {}, text)));
}

function quote(lines, at, depth) {
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end])) end += 1;
  const inner = lines.slice(at, end).map((line) => QUOTE.exec(line)[1]);
  return { end, make: () => el('blockquote', {}, ...blocks(inner, depth + 1)) };
}

function list(lines, at, depth) {
  const ordered = /\d/.test(ITEM.exec(lines[at])[2]);
  const items = [];
  let width = 0;
  let end = at;
  for (; end < lines.length; end += 1) {
    const line = lines[end];
    const indent = line.search(/\S|$/);
    const item = ITEM.exec(line);
    if (items.length > 0 && !isBlank(line) && indent >= width) items.at(-1).push(line.slice(width));
    else if (item && /\d/.test(item[2]) === ordered && !RULE.test(line)) {
      width = item[1].length + item[2].length + Math.max(1, item[3].length);
      items.push([item[4]]);
    } else if (isBlank(line)) {
      // One empty line stays inside when an item or something indented follows.
      const next = lines[end + 1] ?? '';
      if (isBlank(next) || !(ITEM.test(next) || next.search(/\S/) >= width)) break;
      items.at(-1).push('');
    } else if (isBlank(lines[end - 1]) || startsBlock(line)) break;
    else items.at(-1).push(line);
  }
  const make = () => {
    const start = ordered ? { start: Number.parseInt(lines[at], 10) } : {};
    return el(ordered ? 'ol' : 'ul', start, ...items.map((item) => el('li', {}, ...blocks(withBox(item), depth + 1))));
  };
  return { end, make };
}

/** `[ ]` and `[x]` at the start of an item, as boxes. */
function withBox([first, ...rest]) {
  return [first.replace(/^\[[ x]\](?= )/i, (box) => (box === '[ ]' ? '☐' : '☑')), ...rest];
}

function table(lines, at) {
  let end = at + 2;
  while (end < lines.length && lines[end].includes('|')) end += 1;
  const cells = (line) =>
    line
      .trim()
      .replace(/^\||\|$/g, '')
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim());
  const row = (line, tag) => el('tr', {}, ...cells(line).map((cell) => el(tag, {}, ...inline(cell))));
  const body = () => lines.slice(at + 2, end).map((line) => row(line, 'td'));
  const make = () =>
    el(
      'div',
      { className: 'table', tabIndex: 0 },
      el('table', {}, el('thead', {}, row(lines[at], 'th')), el('tbody', {}, ...body())),
    );
  return { end, make };
}

function blocks(lines, depth) {
  const nodes = [];
  for (let at = 0; at < lines.length; ) {
    const { end, make } = isBlank(lines[at]) ? { end: at + 1 } : block(lines, at, depth);
    if (make) nodes.push(make());
    at = end;
  }
  return nodes;
}

/**
 * Shows a text that grows in `container`. A block is made once and for all as soon as nothing that comes can change it,
 * so that each new token costs only the last one.
 */
export function growing(container) {
  let settled = 0;
  let tail = [];
  return (text) => {
    const lines = text.slice(settled).split('\n');
    const growingLine = lines.length - 1;
    for (const node of tail) node.remove();
    tail = [];
    let keep = 0;
    for (let at = 0; at < lines.length; ) {
      const { end, make } = isBlank(lines[at]) ? { end: at + 1 } : block(lines, at, 0);
      if (make) tail.push(make());
      if (make) container.append(tail.at(-1));
      // An empty line ends everything but a list, which goes on when another item follows.
      const isOver = end < growingLine && isBlank(lines[end]) && !ITEM.test(lines[at]);
      at = end;
      while (at < growingLine && isBlank(lines[at])) at += 1;
      if (at >= growingLine && !isOver) continue;
      keep = Math.min(at, growingLine);
      tail = [];
    }
    if (keep > 0) settled += lines.slice(0, keep).join('\n').length + 1;
  };
}
