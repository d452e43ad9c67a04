import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Refusal } from './conversion.ts';
import { decodeEntities, readXml } from './xml.ts';

function events(xml: string): string[] {
  const seen: string[] = [];
  readXml(xml, {
    open: (name, attributes) => seen.push(`<${name} ${attributes.get('a') ?? ''}>`),
    close: (name) => seen.push(`</${name}>`),
    text: (text) => seen.push(text),
  });
  return seen;
}

test('elements, attributes, text, what is no text', () => {
  const xml =
    '<?xml version="1.0"?><!DOCTYPE x><x:b xmlns:x="y" aa="0" a = "1 &gt; 0"><!-- <c> --><c a=\'>\'/>t &amp; u<![CDATA[<d> &amp;]]></x:b >';
  assert.deepEqual(events(xml), ['<b 1 > 0>', '<c >>', '</c>', 't & u', '<d> &amp;', '</b>']);
});

test('what looks like an attribute within the value of another is none', () => {
  assert.deepEqual(events(`<c b=" a='1'" xa='2' a="3"/><c b=' a="4" '/>`), ['<c 3>', '</c>', '<c >', '</c>']);
});

test('entities', () => {
  assert.equal(decodeEntities('&lt;&#65;&#x42;&apos;&unknown;&#0;&#99999999;&'), "<AB'&unknown;&#0;&#99999999;&");
});

test('whatever it is, it is read or refused', () => {
  const piece = fc.constantFrom('<', '>', '"', "'", '/', '!--', '-->', '<![CDATA[', ']]>', '&amp;', 'a', ' ', '=', '?');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      try {
        events(pieces.join(''));
      } catch (error) {
        assert.ok(error instanceof Refusal);
      }
    }),
    { numRuns: 2_000 },
  );
});
