import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseJson } from './body.ts';

const limits = { jsonDepth: 5 };
const nested = (levels: number): string => `${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}`;
const fields = (count: number): string => Array.from({ length: count }, (_, index) => `"f${index}":[0,0]`).join();
/** Bodies of up to 128 KB are weighed once they are parsed, larger ones before. */
const SIZES = { small: '""', large: `"${'a'.repeat(128 * 1024)}"` };

function refusal(body: string): string | undefined {
  try {
    parseJson(Buffer.from(body), limits);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

for (const [size, text] of Object.entries(SIZES)) {
  describe(`a ${size} body`, () => {
    test('may be as deep as the limit says, however often', () => {
      const most = nested(limits.jsonDepth);
      assert.equal(
        refusal(`{"text":${text},"a":${most},"b":[${most.slice(1, -1)},{"c":{}},${most.slice(1, -1)}]}`),
        undefined,
      );
      assert.match(refusal(`{"text":${text},"a":${nested(limits.jsonDepth + 1)}}`) ?? '', /deeper than 5 levels/);
      assert.match(refusal(`{"text":${text},"a":{"a":{"a":{"a":{"a":{}}}}}}`) ?? '', /deeper than 5 levels/);
    });

    test('may have a thousand fields', () => {
      assert.equal(refusal(`{${fields(999)},"text":${text}}`), undefined);
      assert.match(refusal(`{${fields(1_000)},"text":${text}}`) ?? '', /more than 1000 fields/);
    });

    test('may have in its texts whatever it likes', () => {
      const odd = JSON.stringify(`${'[{'.repeat(20)}${',\\"'.repeat(2_000)}`);
      assert.equal(refusal(`{"text":${text},"a":${odd},"b":[${odd}]}`), undefined);
    });
  });
}

test('a body may have 200,000 values', () => {
  const zeros = (count: number): string => `{"a":[${Array(count).fill('0').join()}]}`;
  assert.equal(refusal(zeros(200_000)), undefined);
  assert.match(refusal(zeros(200_001)) ?? '', /more than 200000 values/);
});

test('a large body is weighed before it is parsed', () => {
  const open = '"'.padEnd(128 * 1024, 'a');
  assert.match(refusal(`{"a":${'['.repeat(5)}${open}`) ?? '', /deeper than 5 levels/);
  assert.match(refusal(`{${fields(1_001)},${open}`) ?? '', /more than 1000 fields/);
});
