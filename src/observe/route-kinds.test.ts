import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { kindOf, kindOfRequest } from './route-kinds.ts';

/** What is noted of a POST to this address of Google's routes. */
function asked(route: '/v1/models/*' | '/v1beta/models/*', name: string): string | undefined {
  return kindOfRequest(kindOf('POST', route), route.replace('*', name))?.operation;
}

describe('what is asked at Google’s routes', () => {
  for (const route of ['/v1/models/*', '/v1beta/models/*'] as const) {
    test(`${route}: a method says it`, () => {
      for (const model of ['test-model', 'acme/test-model', 'acme:test-model', 'llama3:latest']) {
        assert.equal(asked(route, `${model}:generateContent`), 'chat', model);
        assert.equal(asked(route, `${model}:streamGenerateContent?alt=sse`), 'chat', model);
        assert.equal(asked(route, `${model}%3AgenerateContent`), 'chat', model);
        assert.equal(asked(route, `${model}%3acountTokens`), 'count_tokens', model);
        assert.equal(asked(route, `${model}:countTokens`), 'count_tokens', model);
        assert.equal(asked(route, `${model}:countTokens?key=a:b`), 'count_tokens', model);
      }
    });

    test(`${route}: nothing without one`, () => {
      for (const name of ['test-model', 'acme/test-model', 'test-model?x=y:generateContent']) {
        assert.equal(asked(route, name), undefined, name);
      }
    });
  }

  test('a model that has a colon in its name is looked at, not asked', () => {
    for (const name of ['llama3:latest', 'acme/llama3:latest', 'acme:test-model', 'llama3:70b?x=y', 'x:generate']) {
      assert.equal(asked('/v1/models/*', name), undefined, name);
    }
  });

  test('a method that does not exist fails as a chat where an address can be nothing else', () => {
    assert.equal(asked('/v1beta/models/*', 'test-model:divine'), 'chat');
  });
});
