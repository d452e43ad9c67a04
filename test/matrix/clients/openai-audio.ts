import assert from 'node:assert/strict';
import { toFile } from 'openai';
import { commonTrials, sent, type TaskClient, type TaskTrial } from '../tasks.ts';

const WORDS = 'Good morning';
/** Passed on as it is, so it need not sound. */
const SOUND = ['zero', 'one ', 'two ', 'three '];
/** The head of a recording without sound. */
const RECORDING = Buffer.concat([
  Buffer.from('RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\0\0\0\0', 'latin1'),
]);

/** OpenAI's library: texts read aloud. */
export const openAiSpeech: TaskClient = {
  title: '`openai`, speech',
  packages: ['openai'],
  task: 'speech',
  ask: speak,
  trials: {
    async audio(trial) {
      trial.seat.answers({ text: SOUND });
      const answer = await speak(trial);
      assert.equal(answer.headers.get('content-type'), 'audio/pcm;rate=24000;channels=1');
      assert.equal(Buffer.from(await answer.arrayBuffer()).toString(), SOUND.join(''));
      assert.ok(sent(trial.seat).includes(WORDS));
    },

    async stream(trial) {
      const comesWhole = trial.seat.upstream.untold?.speech?.['stream'] !== undefined;
      trial.seat.answers({ text: comesWhole ? SOUND.slice(0, 2) : SOUND, stallAfter: 2 });
      const { body } = await speak(trial);
      // What was said is there before the rest of it is.
      const reader = body?.getReader();
      let heard = '';
      while (heard.length < 8) heard += Buffer.from((await reader?.read())?.value ?? []).toString();
      assert.equal(heard, SOUND.slice(0, 2).join(''));
      await reader?.cancel();
      assert.equal(await trial.seat.last.closed, comesWhole ? 'finished' : 'aborted');
    },

    ...commonTrials(speak),
  },
};

function speak({ client, model }: TaskTrial, signal?: AbortSignal) {
  return client.audio.speech.create({ model, voice: 'alloy', input: WORDS, response_format: 'pcm' }, { signal });
}

/** OpenAI's library: what a recording says. */
export const openAiTranscriptions: TaskClient = {
  title: '`openai`, transcriptions',
  packages: ['openai'],
  task: 'transcribe',
  ask: listen,
  trials: {
    async text(trial) {
      trial.seat.answers({ text: ['Good ', 'morning'] });
      assert.equal((await listen(trial)).text, WORDS);
      const got = sent(trial.seat);
      assert.ok(
        got.includes(RECORDING.toString('latin1')) || got.includes(RECORDING.toString('base64')),
        'the recording',
      );
    },

    async stream({ client, seat, model }) {
      seat.answers({ text: ['Good ', 'morning'], delayMs: 20 });
      const file = await recording();
      const deltas: string[] = [];
      for await (const event of await client.audio.transcriptions.create({ model, file, stream: true })) {
        if (event.type === 'transcript.text.delta') deltas.push(event.delta);
        if (event.type === 'transcript.text.done') assert.equal(event.text, WORDS);
      }
      assert.deepEqual(deltas, ['Good ', 'morning']);
    },

    async usage(trial) {
      trial.seat.answers({ text: [WORDS], usage: { prompt: 14, completion: 2 } });
      const { usage } = await listen(trial);
      assert.ok(usage?.type === 'tokens');
      assert.deepEqual([usage.input_tokens, usage.output_tokens], [14, 2]);
    },

    ...commonTrials(listen),
  },
};

function recording(): Promise<File> {
  return toFile(RECORDING, 'morning.wav', { type: 'audio/wav' });
}

async function listen({ client, model }: TaskTrial, signal?: AbortSignal) {
  return client.audio.transcriptions.create({ model, file: await recording(), response_format: 'json' }, { signal });
}
