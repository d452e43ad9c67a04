import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEEPEST_HTML, nestsTooDeep } from './html-nesting.ts';

describe('how deep HTML nests', () => {
  const cases: readonly (readonly [what: string, html: string, isTooDeep: boolean])[] = [
    ['as deep as may be', '<div>'.repeat(DEEPEST_HTML), false],
    ['one deeper', '<div>'.repeat(DEEPEST_HTML + 1), true],
    ['what closes', '<div><b>a</b></div>'.repeat(2_000), false],
    ['what never holds anything', '<br><img><input><hr>'.repeat(2_000), false],
    ['what closes by itself', `<ul>${'<li>a'.repeat(2_000)}</ul>${'<p>a'.repeat(2_000)}`, false],
    ['tags that are none', `<!--${'<div>'.repeat(2_000)}--><script>${'<div>'.repeat(2_000)}</script>`, false],
    ['tags inside of a value', `<a title="${'<div>'.repeat(2_000)}">a</a>`, false],
    ['ends of what is not open', '<div></span></b>'.repeat(2_000), true],
    ['a value with an end in it', '<div title="</div>">'.repeat(2_000), true],
    ['deep behind the end of the page', `</body></html>${'<div>'.repeat(2_000)}`, true],
    ['pictures that close themselves', '<svg/>'.repeat(2_000), false],
    // The parser of the tree, too, would take a minute for them.
    ['a flood of these', '<svg/><svg></svg>'.repeat(250_000), true],
  ];
  for (const [what, html, isTooDeep] of cases) test(what, () => assert.equal(nestsTooDeep(html), isTooDeep));
});
