import assert from 'node:assert/strict';
import { commonTrials, sent, type TaskClient, type TaskTrial } from '../tasks.ts';

const TEXTS = ['Rom', 'Oslo'];
/** Numbers that are the same in 32 bits. */
const VECTOR = [0.25, -0.5, 1];

/** OpenAI's library: vectors. */
export const openAiEmbeddings: TaskClient = {
  title: '`openai`, embeddings',
  packages: ['openai'],
  task: 'embed',
  ask,
  fields: { float: ['user'] },
  trials: {
    // The library asks for base64 by itself, and makes numbers of it.
    async vectors(trial) {
      trial.seat.answers({ vector: VECTOR });
      const { data } = await ask(trial);
      assert.deepEqual(
        data.map(({ index, embedding }) => [index, embedding]),
        TEXTS.map((_, index) => [index, VECTOR]),
      );
      for (const text of TEXTS) assert.ok(sent(trial.seat).includes(text));
    },

    async float({ client, seat, model }) {
      seat.answers({ vector: VECTOR });
      const { data } = await client.embeddings.create({
        ...{ model, input: 'Rom', encoding_format: 'float' },
        ...{ dimensions: 3, user: 'somebody' },
      });
      assert.deepEqual(
        data.map(({ embedding }) => embedding),
        [VECTOR],
      );
      assert.match(sent(seat), /"(dimensions|outputDimensionality)":3/);
    },

    async usage(trial) {
      trial.seat.answers({ vector: VECTOR, usage: { prompt: 14, completion: 0 } });
      const { usage } = (await ask(trial)) as { usage: { estimated?: boolean; prompt_tokens: number } };
      if (trial.seat.upstream.untold?.embed?.['usage'] === undefined) {
        assert.deepEqual(usage, { prompt_tokens: 14, total_tokens: 14 });
      } else {
        const { prompt_tokens: tokens } = usage;
        assert.ok(tokens > 0);
        assert.deepEqual(usage, { prompt_tokens: tokens, total_tokens: tokens, estimated: true });
      }
    },

    ...commonTrials(ask),
  },
};

function ask({ client, model }: TaskTrial, signal?: AbortSignal) {
  return client.embeddings.create({ model, input: TEXTS }, { signal });
}
