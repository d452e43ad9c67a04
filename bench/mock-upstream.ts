/**
 * An upstream of the OpenAI wire format that costs next to nothing: its answers are built once and then only written.
 * Prints the port it got. `GET /stats` tells what it has seen.
 */
import { createServer, type Socket } from 'node:net';
import { MessageReader } from './message-reader.ts';
import { type Plan, planOf, textOf, word } from './models.ts';

const [, , models = 'bench-json-1024', more = '0'] = process.argv;
const offered = [...models.split(','), ...Array.from({ length: Number(more) }, (_, index) => `other-${index}`)];
const TICK_MS = 5;

const stats = { connections: 0, requests: 0, streams: 0 };
const created = 1_700_000_000;

function frame(body: string): string {
  return `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`;
}

function whole(body: string, status = '200 OK'): Buffer {
  return Buffer.from(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/** With all that OpenAI says; an upstream that leaves the details out has them added, which is another measurement. */
function usageOf(completion: number): object {
  return {
    prompt_tokens: 200,
    completion_tokens: completion,
    total_tokens: 200 + completion,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function completion(model: string, content: string): string {
  const message = { role: 'assistant', content };
  const usage = usageOf(200);
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  return JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion', created, model, choices, usage });
}

/** The writes of a stream, one for each chunk: the first carries the head, the last the end. */
function streamFrames(model: string, chunks: number): readonly Buffer[] {
  const event = (delta: object, finish: string | null, more: object = {}): string => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    const chunk = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created, model, choices, ...more };
    return frame(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  const usage = usageOf(chunks);
  return writes(chunks, {
    begin: event({ role: 'assistant', content: '' }, null),
    chunk: (index) => event({ content: word(index) }, null),
    end: `${event({}, 'stop', { usage })}${frame('data: [DONE]\n\n')}`,
  });
}

/** The same as Anthropic sends it (docs.anthropic.com, "Streaming Messages"). */
function messageFrames(model: string, chunks: number): readonly Buffer[] {
  const event = (type: string, fields: object): string =>
    frame(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
  const usage = { input_tokens: 200, output_tokens: 1 };
  const message = { id: 'msg_bench', type: 'message', role: 'assistant', model, content: [], stop_reason: null, usage };
  const begin = event('message_start', { message });
  return writes(chunks, {
    begin: begin + event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    chunk: (index) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: word(index) } }),
    end: [
      event('content_block_stop', { index: 0 }),
      event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: chunks } }),
      event('message_stop', {}),
    ].join(''),
  });
}

function writes(
  chunks: number,
  { begin, chunk, end }: { begin: string; chunk: (index: number) => string; end: string },
): readonly Buffer[] {
  const frames = Array.from({ length: chunks }, (_, index) => chunk(index));
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
  frames[0] = head + begin + (frames[0] ?? '');
  frames[chunks - 1] += `${end}0\r\n\r\n`;
  return frames.map((text) => Buffer.from(text));
}

interface Ready {
  readonly plan: Plan;
  readonly writes: readonly Buffer[];
}

const built = new Map<string, Ready>();

/** `frames`: the format in which a stream is answered. */
function ready(model: string, frames: typeof streamFrames): Ready | undefined {
  const key = `${frames.name} ${model}`;
  const known = built.get(key);
  if (known !== undefined) return known;
  const plan = planOf(model);
  if (plan === undefined) return undefined;
  const writes = plan.kind === 'json' ? [whole(completion(model, textOf(plan.bytes)))] : frames(model, plan.chunks);
  built.set(key, { plan, writes });
  return { plan, writes };
}

/** One write per turn of the event loop: as fast as it goes, and still one write per chunk as a real upstream does. */
function flat(socket: Socket, writes: readonly Buffer[], done: () => void): void {
  let next = 0;
  const turn = (): void => {
    const bytes = writes[next];
    if (socket.destroyed || bytes === undefined) {
      socket.off('drain', turn).off('close', turn);
      done();
      return;
    }
    next += 1;
    if (socket.write(bytes)) setImmediate(turn);
  };
  socket.on('drain', turn).on('close', turn);
  turn();
}

interface Paced {
  readonly socket: Socket;
  readonly writes: readonly Buffer[];
  readonly everyMs: number;
  readonly done: () => void;
  next: number;
  due: number;
}

/** All paced streams, driven by one timer; each is due at its own time, so that they do not come in gusts. */
const paced = new Set<Paced>();
let timer: NodeJS.Timeout | undefined;

function tick(): void {
  const now = performance.now();
  for (const stream of paced) {
    while (stream.due <= now && stream.next < stream.writes.length && !stream.socket.destroyed) {
      stream.socket.write(stream.writes[stream.next] as Buffer);
      stream.next += 1;
      stream.due += stream.everyMs;
    }
    if (stream.next < stream.writes.length && !stream.socket.destroyed) continue;
    paced.delete(stream);
    stream.done();
  }
  if (paced.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}

function pace(socket: Socket, writes: readonly Buffer[], perSecond: number, done: () => void): void {
  paced.add({ socket, writes, everyMs: 1000 / perSecond, done, next: 0, due: performance.now() });
  timer ??= setInterval(tick, TICK_MS);
}

function answer(socket: Socket, startLine: string, body: string): void {
  if (startLine.startsWith('GET /stats')) return void socket.write(whole(JSON.stringify(stats)));
  stats.requests += 1;
  if (startLine.startsWith('GET /v1/models')) {
    const data = offered.map((id) => ({ id, object: 'model', created, owned_by: 'bench' }));
    return void socket.write(whole(JSON.stringify({ object: 'list', data })));
  }
  const frames = startLine.startsWith('POST /v1/messages') ? messageFrames : streamFrames;
  // Not parsed: what it costs here is what a light request has to wait for beside one of 8 MB.
  const model = /"model":"([^"]+)"/.exec(body)?.[1];
  const asked = startLine.startsWith('POST') && model !== undefined ? ready(model, frames) : undefined;
  if (asked === undefined) {
    const message = `the mock knows no such request: ${startLine} ${body.slice(0, 200)}`;
    return void socket.write(whole(JSON.stringify({ error: { message } }), '404 Not Found'));
  }
  if (asked.plan.kind === 'json') return void socket.write(asked.writes[0] as Buffer);
  stats.streams += 1;
  let open = true;
  const done = (): void => {
    if (open) stats.streams -= 1;
    open = false;
  };
  if (asked.plan.kind === 'flat') flat(socket, asked.writes, done);
  else pace(socket, asked.writes, asked.plan.perSecond, done);
}

const server = createServer({ noDelay: true }, (socket) => {
  stats.connections += 1;
  let startLine = '';
  let body: Buffer[] = [];
  const reader = new MessageReader({
    head: (line) => {
      startLine = line;
      body = [];
    },
    body: (bytes) => body.push(bytes),
    end: () => answer(socket, startLine, Buffer.concat(body).toString()),
  });
  socket.on('data', (bytes: Buffer) => reader.push(bytes));
  socket.on('error', () => socket.destroy());
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(typeof address === 'object' ? address?.port : address);
});
