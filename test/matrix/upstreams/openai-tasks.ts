import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorOf } from '../../support/openai-format.ts';
import type { SeenRequest } from '../../support/seen-request.ts';
import { usageOf, type VendorAnswer, type VendorScript } from '../../support/vendor-script.ts';
import { elements, member } from '../../support/vendor-server.ts';

/** What upstreams of OpenAI's wire format do beside chats, played by the same scripts. */

export const TASK_MODELS = {
  image: 'gpt-image-1',
  speech: 'gpt-4o-mini-tts',
  transcribe: 'gpt-4o-mini-transcribe',
  embed: 'text-embedding-3-small',
} as const;

/** Answers a request for such a task; false where it is none. */
export async function answerTasks(
  script: VendorScript,
  request: SeenRequest,
  response: ServerResponse,
): Promise<boolean> {
  const play = PLAYS[request.path];
  if (play === undefined) return false;
  const answer = await script(request);
  if (answer.silent === true) return true;
  const { status = 200 } = answer;
  if (status >= 300) {
    const headers = { 'content-type': 'application/json', ...answer.headers };
    response.writeHead(status, headers).end(JSON.stringify(errorOf(status, answer.errorMessage ?? 'scripted failure')));
    return true;
  }
  const { type, pieces } = play(answer, request);
  response.writeHead(200, { 'content-type': type });
  for (const [index, piece] of pieces.entries()) {
    if (index === answer.stallAfter) await request.closed;
    if (response.destroyed) return true;
    if (!response.write(piece)) await Promise.race([once(response, 'drain'), request.closed]);
    if (answer.delayMs !== undefined) await sleep(answer.delayMs);
  }
  if (answer.stallAfter === pieces.length) await request.closed;
  response.end();
  return true;
}

interface Played {
  readonly type: string;
  readonly pieces: readonly string[];
}

const PLAYS: Readonly<Record<string, (answer: VendorAnswer, request: SeenRequest) => Played>> = {
  '/v1/images/generations': images,
  '/v1/images/edits': images,
  '/v1/audio/speech': ({ text = [] }) => ({ type: 'audio/pcm', pieces: [...text] }),
  '/v1/audio/transcriptions': transcript,
  '/v1/embeddings': embeddings,
};

function images(answer: VendorAnswer, request: SeenRequest): Played {
  const all = answer.images ?? [];
  const usage = tokens(answer);
  if (member(request.body, 'stream') !== true) {
    return json({ created: 1_790_000_000, data: all.map(({ data }) => ({ b64_json: data })), usage });
  }
  // All but the last are unfinished.
  return events(
    all.map(({ data }, index) =>
      index < all.length - 1
        ? { type: 'image_generation.partial_image', partial_image_index: index, b64_json: data }
        : { type: 'image_generation.completed', b64_json: data, usage },
    ),
  );
}

function transcript(answer: VendorAnswer, { rawBody }: SeenRequest): Played {
  const text = [...(answer.text ?? [])];
  const usage = { type: 'tokens', ...tokens(answer) };
  if (!/name="stream"\r\n\r\ntrue/.test(rawBody.toString('latin1'))) return json({ text: text.join(''), usage });
  return events([
    ...text.map((delta) => ({ type: 'transcript.text.delta', delta })),
    { type: 'transcript.text.done', text: text.join(''), usage },
  ]);
}

function embeddings({ vector = [], ...answer }: VendorAnswer, { body, model }: SeenRequest): Played {
  const input = member(body, 'input');
  const count = Array.isArray(input) ? elements(input).length : 1;
  const embedding =
    member(body, 'encoding_format') === 'base64'
      ? Buffer.from(new Float32Array(vector).buffer).toString('base64')
      : vector;
  const { prompt } = usageOf(answer);
  return json({
    object: 'list',
    data: Array.from({ length: count }, (_, index) => ({ object: 'embedding', index, embedding })),
    model,
    usage: { prompt_tokens: prompt, total_tokens: prompt },
  });
}

function tokens(answer: VendorAnswer): object {
  const { prompt, completion } = usageOf(answer);
  return { input_tokens: prompt, output_tokens: completion, total_tokens: prompt + completion };
}

function json(value: object): Played {
  return { type: 'application/json', pieces: [JSON.stringify(value)] };
}

function events(all: readonly { readonly type: string; readonly [name: string]: unknown }[]): Played {
  return {
    type: 'text/event-stream; charset=utf-8',
    pieces: all.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
  };
}
