import { randomUUID } from 'node:crypto';
import type { ProviderConfig } from '../../config/config.ts';
import { addressPart } from '../../core/address-part.ts';
import type { Call, Credentials } from '../../core/call.ts';
import { dataUri } from '../../core/data-uri.ts';
import { SluiceError } from '../../core/errors.ts';
import type { ImageInput, MadeImage } from '../../core/image.ts';
import type { Model } from '../../core/model.ts';
import { membersOf, textOf, wordsOf } from '../../core/objects.ts';
import type { Provider } from '../../core/provider.ts';
import { kindOf } from '../../media/kind.ts';
import { headersFor } from '../about.ts';
import { toForm } from '../form.ts';
import { askBytes, askJson, reported } from './ask.ts';
import { toGraph } from './comfyui-graph.ts';
import type { ImageProviderDeps } from './deps.ts';
import { describe, drawing } from './describe.ts';
import { readInput } from './inputs.ts';
import { poll } from './poll.ts';

const BASE_URL = 'http://127.0.0.1:8188';
/** Between two looks at what was drawn so far. */
const PAUSES = { first: 200, longest: 2_000 };
/** How long calling off a job may take, which nobody waits for. */
const CALL_OFF_MS = 5_000;

/** ComfyUI: a graph is queued, and its history tells which files came of it. */
export function comfyui(config: ProviderConfig, deps: ImageProviderDeps): Provider {
  const baseUrl = config.baseUrl ?? BASE_URL;
  const headersOf = (credentials: Credentials) => headersFor(config, credentials);

  const get = (path: string, credentials: Credentials, signal: AbortSignal): Promise<unknown> =>
    askJson(deps, { url: baseUrl + path, method: 'GET', headers: headersOf(credentials) }, signal);

  function post(path: string, body: unknown, credentials: Credentials, signal: AbortSignal): Promise<unknown> {
    const headers = { ...headersOf(credentials), 'content-type': 'application/json' };
    return askJson(deps, { url: baseUrl + path, method: 'POST', headers, body: JSON.stringify(body) }, signal, explain);
  }

  async function models(credentials: Credentials, signal: AbortSignal): Promise<readonly Model[]> {
    const names = await get('/models/checkpoints', credentials, signal);
    return (Array.isArray(names) ? names : []).flatMap((name) => (typeof name === 'string' ? [drawing(name)] : []));
  }

  /** Puts a picture into its folder of inputs; returns its name there. */
  async function upload(input: ImageInput, call: Call, param: 'image' | 'mask' = 'image'): Promise<string> {
    const { bytes, mimeType, filename } = await readInput(input, deps.guardedFetch, call.signal, param);
    const own = filename.replace('image', `sluice-${randomUUID()}`);
    const { contentType, body } = toForm([{ name: 'image', bytes, mimeType, filename: own }]);
    const headers = { ...headersOf(call.credentials), 'content-type': contentType };
    const question = { url: `${baseUrl}/upload/image`, method: 'POST', headers, body } as const;
    const { name, subfolder } = membersOf(await askJson(deps, question, call.signal));
    if (typeof name !== 'string')
      throw new SluiceError('upstream_invalid', `${config.label} did not take the picture.`);
    return typeof subfolder === 'string' && subfolder !== '' ? `${subfolder}/${name}` : name;
  }

  function callOff(id: string, call: Call): void {
    const signal = AbortSignal.timeout(CALL_OFF_MS);
    const asked = (path: string, body: unknown): Promise<unknown> =>
      // It answers with nothing, which is no JSON.
      post(path, body, call.credentials, signal).catch(() => undefined);
    // Whether it still waits or is drawn already; `prompt_id` keeps what others drew going.
    void asked('/queue', { delete: [id] }).then(() => asked('/interrupt', { prompt_id: id }));
  }

  return {
    ...describe(config, models),
    async image(request, call, watcher) {
      const [image, ...others] = await Promise.all(request.images.map((each) => upload(each, call)));
      if (others.length > 0) call.drop('image');
      const mask = request.mask === undefined ? undefined : await upload(request.mask, call, 'mask');
      const graph = toGraph(request, call, { image, mask, workflow: config.settings['workflow'], label: config.label });
      const { credentials, signal } = call;
      const body = { prompt: graph, client_id: randomUUID() };
      const { prompt_id: id } = membersOf(await post('/prompt', body, credentials, signal));
      if (typeof id !== 'string')
        throw new SluiceError('upstream_invalid', `${config.label} did not queue the request.`);
      const unlisten = call.onCancel(() => callOff(id, call));
      try {
        const files = await finished(id, call, watcher.alive);
        return { images: await Promise.all(files.map((file) => view(file, call))) };
      } finally {
        unlisten();
      }
    },
  };

  async function finished(id: string, call: Call, alive: () => void): Promise<readonly OutputFile[]> {
    const ended = async (): Promise<unknown> => {
      const history = await get(`/history/${addressPart(id)}`, call.credentials, call.signal);
      alive();
      return membersOf(history)[id];
    };
    const look = async (): Promise<unknown> => {
      const entry = await ended();
      if (entry !== undefined || isIn(await get('/queue', call.credentials, call.signal), id)) return entry;
      // Between the two looks it may have ended.
      const late = await ended();
      if (late === undefined) throw reported('provider_failed', config.label, 'the job was deleted from its queue');
      return late;
    };
    const entry = await poll(look, (seen) => seen !== undefined, PAUSES, call.signal);
    const { outputs, status } = membersOf(entry);
    const { status_str: how, messages } = membersOf(status);
    if (how === 'error') throw reported('provider_failed', config.label, errorIn(messages));
    return filesOf(outputs);
  }

  async function view({ filename, subfolder, type }: OutputFile, call: Call): Promise<MadeImage> {
    const query = new URLSearchParams({ filename, subfolder, type });
    const question = { url: `${baseUrl}/view?${query}`, method: 'GET', headers: headersOf(call.credentials) } as const;
    const { bytes } = await askBytes(deps, question, call.signal);
    const { kind, mimeType = 'image/png' } = kindOf(bytes) ?? {};
    return {
      kind: kind === 'video' ? 'video' : 'image',
      url: dataUri(mimeType, bytes),
      mimeType,
    };
  }
}

interface OutputFile {
  readonly filename: string;
  readonly subfolder: string;
  readonly type: string;
}

/** Pictures and videos that its nodes have put out; previews of the way there only when there is nothing else. */
function filesOf(outputs: unknown): readonly OutputFile[] {
  const files = Object.values(membersOf(outputs)).flatMap((node) => {
    const { images, gifs, videos } = membersOf(node);
    return [images, gifs, videos].flatMap((list) => (Array.isArray(list) ? list.flatMap(toFile) : []));
  });
  const kept = files.filter(({ type }) => type === 'output');
  return kept.length > 0 ? kept : files;
}

function toFile(entry: unknown): OutputFile[] {
  const { filename, subfolder, type } = membersOf(entry);
  if (typeof filename !== 'string') return [];
  return [
    {
      filename,
      subfolder: textOf(subfolder),
      type: typeof type === 'string' ? type : 'output',
    },
  ];
}

/** `{error: {message}, node_errors: {"4": {class_type, errors: [{message, details}]}}}` of a graph that cannot run. */
function explain(json: unknown): string | undefined {
  const { error, node_errors: nodes } = membersOf(json);
  const { message } = membersOf(error);
  const details = Object.values(membersOf(nodes)).flatMap((node) => {
    const { class_type: type, errors } = membersOf(node);
    return (Array.isArray(errors) ? errors : []).map((each) => {
      const { message: said, details: more } = membersOf(each);
      return `${wordsOf(type)}: ${[said, more].filter((word) => typeof word === 'string' && word !== '').join(': ')}`;
    });
  });
  const words = [message, ...details.slice(0, 5)].filter((word) => typeof word === 'string');
  return words.length === 0 ? undefined : words.join('; ');
}

/** Whether a queue holds a job, waiting or under way: lists of `[number, id, …]`. */
function isIn(queue: unknown, id: string): boolean {
  const { queue_running: running, queue_pending: pending } = membersOf(queue);
  // Another form of it says nothing of the job.
  if (!Array.isArray(running) || !Array.isArray(pending)) return true;
  return [...running, ...pending].some((job) => Array.isArray(job) && job[1] === id);
}

/** Of the messages of a failed run, what the exception says. */
function errorIn(messages: unknown): unknown {
  const found = (Array.isArray(messages) ? messages : []).find(
    (each) => Array.isArray(each) && each[0] === 'execution_error',
  );
  return membersOf(Array.isArray(found) ? found[1] : undefined)['exception_message'];
}
