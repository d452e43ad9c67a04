import type { Env, MarkdownIt, Token } from 'markdown-it';
import { directionOf } from '../i18n/direction.ts';
import { linkAddress, mediaAddress } from './addresses.ts';
import { languageOf } from './fence.ts';
import type { MediaMarkup } from './media.ts';
import { PENDING } from './mend.ts';
import { withPictures } from './pictures.ts';
import type { Words } from './words.ts';

/**
 * Tokens → HTML. Code, formulas and long texts become hosts: elements with `data-host` and their source as text, which
 * `hosts.ts` brings to life in the page.
 */
export function withMarkup(grammar: MarkdownIt, words: Words): void {
  const { rules } = grammar.renderer;
  const escaped = grammar.utils.escapeHtml;
  const host = (tag: string, kind: string, token: Token, env: Env | undefined, attributes = '') =>
    `<${tag} data-host="${kind}"${attributes}>${escaped(withPictures(token.content, env))}</${tag}>`;

  rules['fence'] = rules['code_block'] = (tokens, index, _options, env) => {
    const token = at(tokens, index);
    const info = languageOf(grammar.utils.unescapeAll(token.info));
    return `${host('div', 'code', token, env, ` data-info="${escaped(info)}"`)}\n`;
  };
  rules['code_inline'] = (tokens, index) => `<code${OF_ITS_OWN}>${escaped(at(tokens, index).content)}</code>`;
  rules['formula'] = (tokens, index) => formula('span', at(tokens, index));
  rules['formula_block'] = (tokens, index) => `${formula('div', at(tokens, index))}\n`;
  rules['plain'] = (tokens, index, _options, env) => `${host('div', 'plain', at(tokens, index), env, ' dir="auto"')}\n`;
  rules['long_inline'] = (tokens, index, _options, env) => host('span', 'plain', at(tokens, index), env);
  rules['task'] = (tokens, index) => {
    const { done } = at(tokens, index).meta as { done: boolean };
    return `<input type="checkbox" disabled${done ? ' checked' : ''} aria-label="${escaped(words.task)}"> `;
  };
  rules['media'] = (tokens, index) => media(at(tokens, index).meta as MediaMarkup);
  rules['image'] = (tokens, index, options, env, renderer) => {
    const token = at(tokens, index);
    const alt = renderer.renderInlineAsText(token.children ?? [], options, env);
    const address = withPictures(String(token.attrGet('src') ?? ''), env);
    const src = mediaAddress(address);
    if (src !== undefined) return image({ src, alt });
    return remote(linkAddress(address), alt);
  };
  // Links hold no links, so what would be one in there is words.
  let isInLink = false;
  rules['link_open'] = (tokens, index) => {
    const { address } = at(tokens, index).meta as { address: string | null };
    isInLink = address !== null;
    if (address === null) return '<span class="markdown-no-link">';
    return address === PENDING ? '<a>' : `<a href="${escaped(address)}"${OUTSIDE}>`;
  };
  rules['link_close'] = (tokens, index) => {
    isInLink = false;
    return (at(tokens, index).meta as { address: string | null }).address === null ? '</span>' : '</a>';
  };
  // A page has one heading of the first order, and that is not in an answer.
  rules['heading_open'] = (tokens, index) => {
    const order = Number(at(tokens, index).tag.slice(1));
    const direction = at(tokens, index).level === 0 ? ' dir="auto"' : '';
    return `<h${Math.min(6, order + 2)} class="markdown-h${order}"${direction}>`;
  };
  rules['heading_close'] = (tokens, index) => `</h${Math.min(6, Number(at(tokens, index).tag.slice(1)) + 2)}>\n`;
  let columns: 'ltr' | 'rtl' | undefined;
  rules['table_open'] = (tokens, index) => {
    columns = directionOfHead(tokens, index);
    const direction = columns === undefined ? '' : ` dir="${columns}"`;
    return (
      `<div class="markdown-table"><div class="markdown-scroll" role="group" tabindex="0"${direction} ` +
      `aria-label="${escaped(words.table)}"><table>`
    );
  };
  rules['table_close'] = (tokens, index) =>
    `${tokens[index - 1]?.type === 'tbody_close' ? '' : '<tbody></tbody>\n'}</table></div>` +
    `<button type="button" class="markdown-more" data-action="rows">${escaped(words.showAll)}</button></div>\n`;
  // In columns from right to left figures stand as these do, though they are read from left to right.
  const isFigures = ({ content }: Token): boolean =>
    columns === 'rtl' && content !== '' && directionOf(content) === undefined;
  rules['th_open'] = rules['td_open'] = (tokens, index) => {
    const token = at(tokens, index);
    const align = /text-align:(left|center|right)/.exec(String(token.attrGet('style') ?? ''))?.[1];
    const [direction, figures] = isFigures(at(tokens, index + 1)) ? ['', '<span dir="ltr">'] : [' dir="auto"', ''];
    const scope = token.tag === 'th' ? ' scope="col"' : '';
    return `<${token.tag}${scope}${direction}${align === undefined ? '' : ` data-align="${align}"`}>${figures}`;
  };
  rules['th_close'] = rules['td_close'] = (tokens, index) =>
    `${isFigures(at(tokens, index - 1)) ? '</span>' : ''}</${at(tokens, index).tag}>\n`;

  function media(markup: MediaMarkup): string {
    switch (markup.kind) {
      case 'break':
        return '<br>';
      case 'image':
        return image(markup.attributes);
      case 'picture': {
        const href = escaped(markup.href);
        return `<a class="markdown-picture" href="${href}" data-src="${href}"${OUTSIDE}>${image(markup.attributes)}</a>`;
      }
      case 'remote':
        return remote(markup.href, markup.alt);
      case 'video':
      case 'audio':
        return `<${markup.kind}${list(markup.attributes)} controls preload="metadata"></${markup.kind}>`;
    }
  }

  function image(attributes: Readonly<Record<string, string>>): string {
    return `<img${list(attributes)} loading="lazy" decoding="async">`;
  }

  /** A picture on another host would tell that host who reads this and when; the reader may go and look. */
  function remote(address: string | undefined, alt: string): string {
    if (address === undefined) return `<span class="markdown-no-link">${escaped(alt)}</span>`;
    const name = URL.canParse(address, location.origin) ? new URL(address, location.origin).host : '';
    const text = `${alt === '' ? words.picture : alt} (${words.pictureOn} ${name})`;
    if (isInLink) return escaped(text);
    return `<a class="markdown-remote" href="${escaped(address)}"${OUTSIDE}>${escaped(text)}</a>`;
  }

  function list(attributes: Readonly<Record<string, string>>): string {
    return Object.entries(attributes)
      .map(([name, value]) => ` ${name}="${escaped(value)}"`)
      .join('');
  }

  function formula(tag: string, token: Token): string {
    const { open = false } = (token.meta ?? {}) as { open?: boolean };
    const display = token.markup === '$$' ? ' data-display' : '';
    return host(tag, 'formula', token, undefined, `${OF_ITS_OWN}${display}${open ? ' data-open' : ''}`);
  }
}

/** Code and formulas are written from left to right, and what stands around them goes by its own first letter. */
const OF_ITS_OWN = ' dir="ltr"';
const OUTSIDE = ' target="_blank" rel="noopener noreferrer nofollow"';

/**
 * Columns stand in the direction of the head's words, or of its code where it has no others: `dir="auto"` would not look into cells,
 * which have directions of their own.
 */
function directionOfHead(tokens: readonly Token[], index: number): 'ltr' | 'rtl' | undefined {
  const end = tokens.findIndex(({ type }, place) => place > index && type === 'thead_close');
  const cells = tokens.slice(index, end).filter(({ type }) => type === 'inline');
  const words = cells.flatMap(({ children }) => children ?? []).filter(({ type }) => type === 'text');
  const textOf = (parts: readonly Token[]): string => parts.map(({ content }) => content).join(' ');
  return directionOf(textOf(words)) ?? directionOf(textOf(cells));
}

function at(tokens: readonly Token[], index: number): Token {
  const token = tokens[index];
  if (token === undefined) throw new RangeError('No such token');
  return token;
}
