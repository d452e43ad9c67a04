import assert from 'node:assert/strict';
import { after, before, beforeEach } from 'node:test';
import OpenAI from 'openai';
import { type Gateway, startGateway } from '../support/gateway.ts';
import {
  type ImageReply,
  type ImageScript,
  type ImageUpstream,
  startImageUpstream,
} from '../support/image-upstream.ts';
import { picture } from '../support/pictures.ts';

/** Pictures of upstreams that speak OpenAI's images API, asked for with OpenAI's own client and by plain HTTP. */

export const CREATED = 1_790_000_000;
export const USAGE = {
  input_tokens: 14,
  output_tokens: 272,
  total_tokens: 286,
  input_tokens_details: { text_tokens: 14, image_tokens: 0 },
};
export const MODELS = {
  object: 'list',
  data: ['gpt-image-1', 'dall-e-3', 'dall-e-2', 'chatty'].map((id) => ({
    id,
    object: 'model',
    created: 1,
    owned_by: 'openai',
  })),
};

export interface World {
  readonly upstream: ImageUpstream;
  readonly gateway: Gateway;
  readonly client: OpenAI;
  script: ImageScript;
}

export async function openWorld(context: { after(done: () => void): void }, yaml = ''): Promise<World> {
  const world: { script: ImageScript } = { script: () => undefined };
  const upstream = await startImageUpstream(context, () => (call) => {
    if (call.path === '/v1/models') return { json: MODELS };
    return world.script(call);
  });
  const gateway = await startGateway(
    `providers: { acme: { kind: openai, baseUrl: '${upstream.origin}/v1', apiKey: key-of-the-operator } }\n${yaml}`,
  );
  context.after(() => void gateway.close());
  const client = new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
  return Object.assign(world, { upstream, gateway, client });
}

export const [red, blue] = await Promise.all([picture('#ff0000', 500, 300), picture('#0000ff')]);

/** An answer with pictures, as OpenAI gives it. */
export const base64 = (...pictures: Buffer[]): ImageReply => ({
  json: {
    created: CREATED,
    background: 'opaque',
    data: pictures.map((each) => ({ b64_json: each.toString('base64') })),
    output_format: 'png',
    quality: 'high',
    size: '1024x1024',
    usage: USAGE,
  },
});

/** A world for all tests of the `describe` that it is called in. Each begins with an upstream that draws the red picture. */
export function setWorld(): World {
  let world: World | undefined;
  const opened = (): World => world ?? assert.fail('The world is not there before its tests begin');
  const ends: (() => void)[] = [];
  before(async () => {
    world = await openWorld({ after: (done) => ends.push(done) });
  });
  beforeEach(() => {
    opened().script = () => base64(red);
  });
  after(() => {
    for (const end of ends.reverse()) end();
  });
  return {
    get upstream() {
      return opened().upstream;
    },
    get gateway() {
      return opened().gateway;
    },
    get client() {
      return opened().client;
    },
    get script() {
      return opened().script;
    },
    set script(script) {
      opened().script = script;
    },
  };
}

export const post = (world: World, path: string, body: unknown, headers = {}) =>
  fetch(`${world.gateway.origin}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

interface Told {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  readonly json: any;
  readonly headers: Headers;
}

export async function told(response: Response | Promise<Response>): Promise<Told> {
  const settled = await response;
  return { status: settled.status, json: await settled.json(), headers: settled.headers };
}
