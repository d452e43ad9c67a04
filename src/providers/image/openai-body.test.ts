import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { ImageRequest } from '../../core/image.ts';
import { scanObject } from '../../core/json.ts';
import { toBody, toFields } from './openai-body.ts';

/** A request as a client sent it. */
function asSent(text: string, model = 'own-name', hidden: readonly string[] = []): ImageRequest {
  const bytes = Buffer.from(text);
  const value = JSON.parse(text) as Record<string, unknown>;
  const fields = Object.fromEntries(Object.entries(value).filter(([name]) => !hidden.includes(name)));
  return { task: 'generate', prompt: 'x', model, n: 1, images: [], fields, sent: { bytes, ...scanObject(bytes) } };
}

const bodyOf = (request: ImageRequest): string => toBody(request, toFields(request, new Set())).toString();

describe('the body for an upstream of OpenAI’s images API', () => {
  test('nothing to change: the very same bytes', () => {
    const text = '{ "model" : "own-name", "prompt":"x", "seed": 1e3, "ü":"\\u00fc" }';
    assert.equal(bodyOf(asSent(text)), text);
  });

  test('whatever else a client says arrives as it was written', () => {
    const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
    const name = fc
      .string({ minLength: 1, maxLength: 8 })
      .filter((key) => !/^(prompt|model|size|secret|__proto__)$/.test(key));
    fc.assert(
      fc.property(fc.dictionary(name, value, { maxKeys: 6 }), (extra) => {
        const text = JSON.stringify({ secret: 'x', model: 'acme/own-name', ...extra, prompt: 'x' });
        const sent = JSON.parse(bodyOf(asSent(text, 'own-name', ['secret'])));
        assert.deepEqual(sent, JSON.parse(JSON.stringify({ model: 'own-name', ...extra, prompt: 'x' })));
      }),
      { numRuns: 200 },
    );
  });

  for (const [model, fields, size] of [
    ['gpt-image-1', { aspectRatio: '16:9' }, '1536x1024'],
    ['gpt-image-1', { aspectRatio: '1:1' }, '1024x1024'],
    ['dall-e-3', { aspectRatio: '9:16' }, '1024x1792'],
    ['dall-e-2', { aspectRatio: '9:16' }, undefined],
    ['other', { aspectRatio: '9:16' }, undefined],
    ['other', { size: { width: 3, height: 4 } }, '3x4'],
  ] as const) {
    test(`${model} with ${JSON.stringify(fields)}: ${size ?? 'no size'}`, () => {
      const request: ImageRequest = { task: 'generate', prompt: 'x', model, n: 1, images: [], fields: {}, ...fields };
      assert.equal(toFields(request, new Set()).get('size'), size);
    });
  }
});
