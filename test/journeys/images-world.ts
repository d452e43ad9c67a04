import OpenAI from 'openai';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type ImageScript, type ImageUpstream, startImageUpstream } from '../support/image-upstream.ts';

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
