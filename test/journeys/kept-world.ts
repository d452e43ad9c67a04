import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import type { VendorAnswer, VendorRequest } from '../support/vendor-script.ts';
import { startGatewayBefore } from './gateway-before.ts';

/** A gateway with everything it keeps, before one scripted upstream, the provider `acme`. */
export interface KeptWorld {
  readonly origin: string;
  /** Where the data are. */
  readonly folder: string;
  /** Everything that was logged, as text. */
  logged(): string;
  readonly upstream: OpenAiUpstream;
  /** What the upstream answers from now on. */
  answers(answer: VendorAnswer | ((request: VendorRequest) => VendorAnswer)): void;
  close(): Promise<void>;
}

/** `yaml` stands behind the providers; `entry` within the entry of `acme`. */
export async function openKept(yaml = '', entry = ''): Promise<KeptWorld> {
  let script: (request: VendorRequest) => VendorAnswer = () => ({ text: ['Hello', ' world'] });
  const upstream = await startOpenAiUpstream((request) => script(request));
  const { gateway, close } = await startGatewayBefore(
    [upstream],
    `providers:\n  acme: { kind: openai, baseUrl: '${upstream.baseUrl}', models: [test-model, other-model]${entry} }\n${yaml}`,
  );
  return {
    origin: gateway.origin,
    folder: gateway.folder,
    logged: () => JSON.stringify(gateway.log.lines),
    upstream,
    answers(answer) {
      script = typeof answer === 'function' ? answer : () => answer;
    },
    close,
  };
}

/** The address of a route of dialect A. */
export function at(world: Pick<KeptWorld, 'origin'>, path: string): string {
  return `${world.origin}/backend-api/v2/${path}`;
}

export interface Uploaded {
  readonly bucket_id: string;
  readonly files: readonly string[];
  readonly media: readonly { readonly name: string; readonly width?: number; readonly height?: number }[];
  readonly rejected: readonly { readonly name: string; readonly reason: string }[];
}

/** A form as a browser builds it. */
export function form(
  files: readonly (readonly [name: string, content: string | Uint8Array, type?: string])[],
): FormData {
  const data = new FormData();
  for (const [name, content, type = ''] of files)
    data.append('files', new File([new Uint8Array(Buffer.from(content))], name, { type }));
  return data;
}

/** Uploads and expects to succeed. */
export async function upload(
  world: Pick<KeptWorld, 'origin'>,
  id: string,
  ...files: Parameters<typeof form>[0]
): Promise<Uploaded> {
  const response = await fetch(at(world, `files/${id}`), { method: 'POST', body: form(files) });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text) as Uploaded;
}

/** Status, error's message and code, and the rest of a JSON answer. */
export async function told(response: Response | Promise<Response>): Promise<{
  readonly status: number;
  readonly code: string | undefined;
  readonly message: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  readonly json: any;
}> {
  const settled = await response;
  const text = await settled.text();
  const json = text === '' ? undefined : JSON.parse(text);
  return { status: settled.status, code: json?.error?.code, message: json?.error?.message ?? '', json };
}

/** The status alone. The body is read all the same: a connection in the middle of one holds a server open. */
export async function statusOf(url: string, init?: RequestInit): Promise<number> {
  const response = await fetch(url, init);
  await response.arrayBuffer();
  return response.status;
}

export function postJson(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

export function remove(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(url, { method: 'DELETE', headers });
}

/** A typed chunk of dialect A. */
export type Event = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Asks in dialect A and expects a stream. */
export async function converse(
  world: Pick<KeptWorld, 'origin'>,
  body: object,
  headers = {},
): Promise<readonly Event[]> {
  const response = await postJson(
    at(world, 'conversation'),
    { provider: 'acme', messages: [{ role: 'user', content: 'Hi' }], ...body },
    headers,
  );
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  return text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6)) as Event] : []));
}

/** A chat as it arrived upstream. */
export interface SentBody {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  readonly messages: { role: string; content: any }[];
  readonly [name: string]: unknown;
}

/** The last chat that arrived upstream. */
export function lastBody(world: Pick<KeptWorld, 'upstream'>): SentBody {
  const last = world.upstream.chats.at(-1);
  if (last === undefined) throw new Error('nothing arrived upstream');
  return last.body as SentBody;
}

/** The text of an answer. */
export function contentOf(events: readonly Event[]): string {
  return events.map((event) => (event.type === 'content' ? String(event['content']) : '')).join('');
}

export function pick({ status, code }: { readonly status: number; readonly code: string | undefined }): unknown[] {
  return [status, code];
}

/** Stored files below a folder of the data. */
export function filesBelow(world: KeptWorld, folder: string): string[] {
  return filesIn(path.join(world.folder, 'data', 'files', folder));
}

/** The names of all files in a folder and below it. */
export function filesIn(place: string): string[] {
  if (!existsSync(place)) return [];
  return readdirSync(place, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [entry.name] : [],
  );
}
