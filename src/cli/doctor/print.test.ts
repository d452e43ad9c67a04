import assert from 'node:assert/strict';
import { test } from 'node:test';
import { good, note, wrong } from './finding.ts';
import { sectionText, verdict, wantsColour } from './print.ts';

const section = { title: 'Title', findings: [good('right'), note('so so'), wrong('bad secret', 'mend secret')] };
const mask = (text: string) => text.replaceAll('secret', '***');

test('without colour the marks say everything, and secrets are masked', () => {
  assert.equal(sectionText(section, false, mask), 'Title\n  ✓ right\n  ! so so\n  ✗ bad ***\n    → mend ***\n');
});

test('with colour the text is the same', () => {
  const text = sectionText(section, true, mask);
  assert.ok(text.includes('\u001b[31m✗\u001b[0m bad'), text);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the control character of colours
  assert.equal(text.replaceAll(/\x1b\[\d+m/g, ''), sectionText(section, false, mask));
});

test('colour only on a terminal that wants it', () => {
  assert.ok(wantsColour({ isTTY: true }, {}));
  assert.ok(wantsColour({ isTTY: true }, { NO_COLOR: '' }));
  assert.ok(!wantsColour({ isTTY: true }, { NO_COLOR: '1' }));
  assert.ok(!wantsColour({ isTTY: true }, { TERM: 'dumb' }));
  assert.ok(!wantsColour({}, {}));
});

test('the verdict counts', () => {
  assert.equal(verdict([]), 'Nothing is wrong.\n');
  assert.equal(verdict([section]), 'One thing is wrong: see the ✗ above.\n');
  assert.equal(verdict([section, section]), '2 things are wrong: see the ✗ above.\n');
});
