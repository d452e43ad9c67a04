import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { htmlToMarkdown } from './html.ts';

const markdown = (html: string): string => htmlToMarkdown(html).text;

describe('which part of a page', () => {
  const cases: readonly (readonly [what: string, html: string, text: string])[] = [
    ['a piece', '<p>a</p>', 'a\n'],
    ['plain words', 'a', 'a\n'],
    ['no body', '<html><head><title>t</title></head><p>a</p>', 'a\n'],
    ['no html', '<body class=x><p>a', 'a\n'],
    ['its main', '<header>h</header><main><p>a</p></main><footer>f</footer>', 'a\n'],
    ['its only article', '<header>h</header><article>a</article>', 'a\n'],
    ['two articles: all of it', '<article>a</article><article>b</article>', 'a\n\nb\n'],
    [
      'no menus, scripts, controls',
      '<nav>n</nav><script>s</script><style>t</style><noscript>u</noscript><form>a<button>b</button></form>',
      'a\n',
    ],
    ['nothing hidden', 'a<p hidden>b</p><p aria-hidden="true">c</p><template>d</template>', 'a\n'],
    ['nothing that its style hides', 'a<p style="color: red; display:none">b</p><b style="DISPLAY: NONE">c</b>', 'a\n'],
  ];
  for (const [what, html, text] of cases) test(what, () => assert.equal(markdown(html), text));

  test('its title', () => {
    assert.equal(htmlToMarkdown('<title> A\n b </title>c').title, 'A b');
    assert.equal(htmlToMarkdown('<p>c').title, undefined);
  });
});

describe('pieces', () => {
  const cases: readonly (readonly [what: string, html: string, text: string])[] = [
    ['emphasis', '<b>a</b> <em>b</em> <del>c</del> <code>d_e</code>', '**a** *b* ~~c~~ `d_e`\n'],
    ['raised and lowered', 'm<sup>2</sup> H<sub>2</sub>O<sup> </sup>', 'm<sup>2</sup> H<sub>2</sub>O\n'],
    ['nested lists', '<ul><li>a<ol start=7><li>b<li>c</ol><li>d</ul>', '- a\n  7. b\n  8. c\n- d\n'],
    ['tasks', '<ul><li><input type=checkbox checked> a<li><input type=checkbox>b</ul>', '- [x] a\n- [ ] b\n'],
    [
      'cells over several rows',
      '<table><tr><th>a<th>b<th>c<tr><td rowspan=2 colspan=2>d<td>e<tr><td>f<tr><td>g<td rowspan=9>h<td>i</table>',
      '| a | b | c |\n| --- | --- | --- |\n| d |  | e |\n|  |  | f |\n| g | h | i |\n',
    ],
    ['what opens', '<details><summary>a</summary>b</details>c', 'a\n\nb\n\nc\n'],
    [
      'a table without a head',
      '<table><tr><td>a<td>b|c<tr><td colspan=2>d</table>',
      '| a | b\\|c |\n| --- | --- |\n| d |  |\n',
    ],
    [
      'a list in a cell',
      '<table><tr><th>a<th>b<tr><td><ul><li>c<li>d</ul><td>e</table>',
      '| a | b |\n| --- | --- |\n| - c<br>- d | e |\n',
    ],
    ['a table that only lays out', '<table><tr><td><p>a</p><tr><td>b</table>', 'a\n\nb\n'],
    [
      'code with its language',
      '<pre><code class="hljs language-ts">a\n\n\n  b</code></pre>',
      '```ts\na\n\n\n  b\n```\n',
    ],
    ['code of a highlighter', '<div class="highlight highlight-source-rust"><pre>a</pre></div>', '```rust\na\n```\n'],
    ['code that holds a fence', '<pre>```</pre>', '````\n```\n````\n'],
    [
      'ways back and marks for a heading',
      '<h2>a<a href="#a">¶</a></h2>b<a href="#b">↩</a> <a href=/c>#</a>',
      '## a\n\nb [#](/c)\n',
    ],
    ['a link over two lines', '<a href=/a><b>b</b>\n<span>c</span></a>', '[**b** c](/a)\n'],
    [
      'a heading that is a link, and what a page lists',
      '<a href=/a><h3>b</h3></a><a href=/c><h2>d</h2><p>e</p></a>',
      '### [b](/a)\n\n## [d](/c)\n\ne\n',
    ],
    [
      'a table in a cell',
      '<table><tr><td><table><tr><td>a<td>b<tr><td>c<td>d</table><td>e</table>',
      '| a, b<br>c, d | e |\n| --- | --- |\n',
    ],
    [
      'a table in a table that only lays out',
      '<table><tr><td><table><tr><td>a<td>b</table></table>',
      '| a | b |\n| --- | --- |\n',
    ],
    [
      'formulas',
      '<math><semantics><mi>a</mi><annotation encoding="application/x-tex">\\frac{a}{b}_1</annotation></semantics></math> ' +
        '<math alttext="x^2"><mi>x</mi></math> <math><mi>y</mi></math>',
      '$\\frac{a}{b}_1$ $x^2$ y\n',
    ],
    [
      'formulas behind pictures of them',
      '<span><span style="display: none"><math alttext="x"><mi>x</mi></math></span><img aria-hidden="true" alt="x"></span>',
      '$x$\n',
    ],
    ['places to part a word', 'so\u00adft &shy;ly', 'soft ly\n'],
    ['text that looks like markup', '# a &lt;b&gt; *c* snake_case 1. d', '\\# a \\<b> \\*c\\* snake_case 1. d\n'],
    ['an entity next to letters', '&lt;script&gt;', '\\<script>\n'],
    ['pictures', '<img src=/a.png alt="b [c]"><img src="data:image/png;base64,AA" alt=d>', '![b \\[c\\]](/a.png)d\n'],
  ];
  for (const [what, html, text] of cases) test(what, () => assert.equal(markdown(html), text));
});

test('XHTML may end elements within their tag', () => {
  const namespace = '<html lang="en" xmlns="http://www.w3.org/1999/xhtml">';
  for (const start of [namespace, '<?xml version="1.0"?><html>']) {
    for (const element of ['<script src="a"/>', '<style/>', '<iframe src="a"/>', '<b/>', '<br/>']) {
      const html = `${start}<head><title/></head><body><p>a</p>${element}<p>b</p></body></html>`;
      assert.deepEqual(htmlToMarkdown(html), { text: 'a\n\nb\n' }, html);
    }
  }
});

test('addresses that run something are left out, whatever their spelling', () => {
  const spellings = [
    'javascript:a()',
    ' JavaScript:a()',
    'java&#10;script:a()',
    '&#1;javascript:a()',
    'vbscript:a',
    'data:text/html,a',
  ];
  for (const address of spellings) {
    assert.equal(markdown(`<a href="${address}">b</a><img src="${address}" alt="c">`), 'bc\n', address);
  }
});
