import assert from 'node:assert/strict';
import { test } from 'node:test';
import { typeset } from './typography.ts';

test('French signs of two parts and quotation marks stay with their words', () => {
  assert.equal(
    typeset('fr', 'Modèle : « {name} » ; supprimer ? Oui ! 10:30, a b'),
    'Modèle\u00a0: «\u00a0{name}\u00a0»\u00a0; supprimer\u00a0? Oui\u00a0! 10:30, a b',
  );
});

test('other languages are set as they are written', () => {
  assert.equal(typeset('de', 'Was ist » das « : ?'), 'Was ist » das « : ?');
});
