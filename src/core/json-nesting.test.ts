import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEEPEST_JSON, nestsTooDeep } from './json-nesting.ts';

const nested = (levels: number, inside = ''): string => '[{"a":'.repeat(levels / 2) + inside + '}]'.repeat(levels / 2);

test('counts what is open at the same time', () => {
  assert.ok(!nestsTooDeep(nested(DEEPEST_JSON, '1')));
  assert.ok(nestsTooDeep(nested(DEEPEST_JSON, '[]')));
  assert.ok(!nestsTooDeep(`[${'[{}],'.repeat(DEEPEST_JSON)}1]`));
  assert.ok(nestsTooDeep('['.repeat(DEEPEST_JSON * 3)));
});

test('looks into no text', () => {
  const brackets = '[{'.repeat(DEEPEST_JSON);
  for (const text of [brackets, `\\"${brackets}`, `${brackets}\\\\\\"`])
    assert.ok(!nestsTooDeep(`{"a":"${text}"}`), text);
  assert.ok(nestsTooDeep(`["\\\\",${brackets}`));
  assert.ok(!nestsTooDeep(`"${brackets}`));
});
