import assert from 'node:assert/strict';
import { toFile } from 'openai';
import { commonTrials, sent, type TaskClient, type TaskTrial } from '../tasks.ts';
import { PIXEL } from '../vocabulary.ts';

const PROMPT = 'A red barn';
const IMAGE = { mimeType: 'image/png', data: PIXEL };

/** OpenAI's library: pictures. */
export const openAiImages: TaskClient = {
  title: '`openai`, images',
  packages: ['openai'],
  task: 'image',
  ask,
  fields: { b64_json: ['quality'] },
  trials: {
    async url(trial) {
      trial.seat.answers({ images: [IMAGE] });
      const answer = await ask(trial);
      const url = answer.data?.[0]?.url ?? '';
      assert.deepEqual(Buffer.from(await (await fetch(url)).arrayBuffer()), Buffer.from(PIXEL, 'base64'));
      assert.ok(sent(trial.seat).includes(PROMPT));
    },

    async b64_json({ client, seat, model }) {
      seat.answers({ images: [IMAGE] });
      const options = { response_format: 'b64_json', quality: 'high' } as const;
      const answer = await client.images.generate({ model, prompt: PROMPT, ...options });
      assert.deepEqual(
        answer.data?.map(({ b64_json }) => b64_json),
        [PIXEL],
      );
      if (seat.upstream.lostByTask?.image?.['quality'] === undefined) assert.ok(sent(seat).includes('high'));
    },

    async edit({ client, seat, model }) {
      seat.answers({ images: [IMAGE] });
      const bytes = Buffer.from(PIXEL, 'base64');
      const image = await toFile(bytes, 'pixel.png', { type: 'image/png' });
      const answer = await client.images.edit({ model, image, prompt: PROMPT, response_format: 'b64_json' });
      assert.equal(answer.data?.[0]?.b64_json, PIXEL);
      const got = sent(seat);
      assert.ok(got.includes(PROMPT));
      assert.ok(got.includes(PIXEL) || got.includes(bytes.toString('latin1')), 'the picture');
    },

    async stream({ client, seat, model }) {
      seat.answers({ images: [IMAGE, IMAGE] });
      const events = await client.images.generate({ model, prompt: PROMPT, stream: true, partial_images: 1 });
      const types: string[] = [];
      for await (const event of events) types.push(event.type);
      const finished = 'image_generation.completed';
      // Who draws without showing how sends the finished pictures alone.
      const isWatched = seat.upstream.kind === 'openai';
      assert.deepEqual(types, isWatched ? ['image_generation.partial_image', finished] : [finished, finished]);
    },

    async usage(trial) {
      trial.seat.answers({ images: [IMAGE], usage: { prompt: 14, completion: 272 } });
      const { usage } = await ask(trial);
      assert.deepEqual([usage?.input_tokens, usage?.output_tokens, usage?.total_tokens], [14, 272, 286]);
    },

    ...commonTrials(ask),
  },
};

function ask({ client, model }: TaskTrial, signal?: AbortSignal) {
  return client.images.generate({ model, prompt: PROMPT }, { signal });
}
