import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queriesOf, vectorOf } from './words.ts';

test('a text becomes its words with their places, without case and accents', () => {
  assert.equal(vectorOf('The Café, the CAFE\u0301!'), "'the':1,3 'cafe':2,4");
  assert.equal(vectorOf("it's 'quoted' \\ :*| & <-> 42nd"), "'it':1 's':2 'quoted':3 '42nd':4");
  assert.equal(vectorOf('日本語 and กา'), "'日':1 '本':2 '語':3 'and':4 'ก':5 'า':6");
  assert.equal(vectorOf('서울에'), "'서울에':1");
  assert.equal(vectorOf(' \u0301 … \0 '), '');
});

test('a text of any length fits', () => {
  const many = Array.from({ length: 200_000 }, (_, n) => `${'é'.repeat(300)}${n}`).join(' ');
  assert.ok(Buffer.byteLength(vectorOf(many)) < 1_000_000);
  const same = vectorOf('hay '.repeat(100_000));
  assert.equal(same.split(',').length, 255);
  assert.ok(vectorOf(Array.from({ length: 100_000 }, (_, n) => `w${n}`).join(' ')).endsWith("'w16382':16383"));
});

test('a question becomes terms, of which the last one, and Korean ones, may go on', () => {
  assert.deepEqual(queriesOf('Dog cat'), ["'dog'", "'cat':*"]);
  assert.deepEqual(queriesOf('of it'), ["'of'", "'it'"]);
  assert.deepEqual(queriesOf('日本語 서울 x'), ["'日' <-> '本' <-> '語'", "'서울':*", "'x'"]);
  assert.deepEqual(queriesOf('Café CAFE dog cafe'), ["'cafe'", "'dog'", "'cafe':*"], 'each once');
  assert.deepEqual(queriesOf('" ( \u0301'), []);
});
