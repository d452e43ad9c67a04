import createDOMPurify from 'dompurify';
import { linkAddress, mediaAddress } from './addresses.ts';

const TAGS =
  'a p br hr h1 h2 h3 h4 h5 h6 strong em s del code pre ul ol li blockquote table thead tbody tr th td img video audio ' +
  'input div span button sup details summary';
const ADDRESSES = ['href', 'src', 'poster', 'data-src'];
const ATTRIBUTES =
  'alt title class dir start target rel loading decoding width height controls preload type checked ' +
  'disabled scope role tabindex aria-label data-host data-info data-display data-open data-align data-action';

// An instance of its own, so that its hooks are nobody else's.
const purifier = createDOMPurify(window);

purifier.addHook('afterSanitizeAttributes', (node) => {
  if (node.nodeName === 'A') {
    const href = node.getAttribute('href');
    if (href !== null && linkAddress(href) === undefined) node.removeAttribute('href');
    if (node.hasAttribute('href')) {
      node.setAttribute('target', '_blank');
      node.setAttribute('rel', 'noopener noreferrer nofollow');
    }
  }
  for (const name of ADDRESSES.slice(1)) {
    const address = node.getAttribute(name);
    if (address !== null && mediaAddress(address) === undefined) node.removeAttribute(name);
  }
  if (node.nodeName === 'INPUT') {
    node.setAttribute('type', 'checkbox');
    node.setAttribute('disabled', '');
  }
});

/** HTML of the grammar → nodes, without anything that the grammar would not write: the second lock behind the first. */
export function sanitised(html: string): DocumentFragment {
  return purifier.sanitize(html, {
    ALLOWED_TAGS: TAGS.split(' '),
    ALLOWED_ATTR: [...ADDRESSES, ...ATTRIBUTES.split(' ')],
    ADD_URI_SAFE_ATTR: ATTRIBUTES.split(' '),
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:|tel:|blob:|data:image\/(?:png|jpeg|gif|webp);|\/(?![/\\]))/i,
    RETURN_DOM_FRAGMENT: true,
  });
}

const FORMULA_TAGS =
  'span math semantics annotation mrow mi mo mn ms mtext mspace msup msub msubsup mfrac msqrt mroot mover munder munderover ' +
  'mtable mtr mtd mstyle mpadded mphantom menclose mglyph svg path line g';
const FORMULA_ATTRIBUTES =
  'class style aria-hidden xmlns encoding display mathvariant stretchy fence separator accent accentunder lspace rspace ' +
  'minsize maxsize symmetric linethickness columnalign columnspacing rowspacing columnlines rowlines scriptlevel ' +
  'displaystyle mathcolor mathbackground width height depth voffset notation movablelimits largeop form d viewBox ' +
  'preserveAspectRatio x1 x2 y1 y2 stroke-width';

const formulaPurifier = createDOMPurify(window);

/** Takes from a rendered formula whatever is not part of formulas. Styles stay: they are the library's own, as properties. */
export function sanitiseFormula(element: Element): void {
  formulaPurifier.sanitize(element, {
    ALLOWED_TAGS: FORMULA_TAGS.split(' '),
    ALLOWED_ATTR: FORMULA_ATTRIBUTES.split(' '),
    ADD_URI_SAFE_ATTR: FORMULA_ATTRIBUTES.split(' '),
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    IN_PLACE: true,
  });
}
