import {
  finishOf,
  piecesOf,
  usageOf,
  type VendorAnswer,
  type VendorPiece,
  type VendorRequest,
} from './vendor-script.ts';
import { elements, member } from './vendor-server.ts';

/** How OpenAI and those who imitate it write an answer down: chunks of a stream, whole completions, errors, listings. */

const CREATED = 1_700_000_000;
const FINGERPRINT = 'fp_scripted';

/** What a request says, in the shared words. */
export function readRequest(body: unknown): Pick<VendorRequest, 'model' | 'stream' | 'prompt' | 'images' | 'tools'> {
  const contents = elements(member(body, 'messages')).map((message) => member(message, 'content'));
  const parts = contents.flatMap((content) =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : elements(content),
  );
  return {
    model: String(member(body, 'model') ?? ''),
    stream: member(body, 'stream') === true,
    prompt: String(member(parts.filter((part) => member(part, 'type') === 'text').at(-1), 'text') ?? ''),
    images: parts.filter((part) => member(part, 'type') === 'image_url').length,
    tools: elements(member(body, 'tools')).map((tool) => String(member(tool, 'function', 'name'))),
  };
}

/** One streamed answer, event by event; each method gives the data of the events to send. */
export class ChunkStream {
  readonly #answer: VendorAnswer;
  readonly #model: string;
  readonly #includeUsage: boolean;

  constructor(answer: VendorAnswer, request: Pick<VendorRequest, 'model' | 'body'>) {
    this.#answer = answer;
    this.#model = request.model;
    this.#includeUsage = member(request.body, 'stream_options', 'include_usage') === true;
  }

  /** The first chunk carries the role and an empty text. */
  start(): object {
    return this.#chunk({ role: 'assistant', content: '', refusal: null });
  }

  piece(piece: VendorPiece): object {
    return this.#chunk(deltaOf(piece));
  }

  /** Finish and, when the client asked for it, usage in a chunk of its own without choices. */
  end(): object[] {
    const finish = this.#chunk({}, finishOf(this.#answer));
    if (!this.#includeUsage) return [finish];
    return [finish, { ...this.#envelope(), choices: [], usage: usageFields(this.#answer) }];
  }

  #chunk(delta: object, finish: string | null = null): object {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
    return { ...this.#envelope(), choices, ...(this.#includeUsage ? { usage: null } : {}) };
  }

  #envelope(): object {
    return {
      id: 'chatcmpl-scripted',
      object: 'chat.completion.chunk',
      created: CREATED,
      model: this.#model,
      service_tier: 'default',
      system_fingerprint: FINGERPRINT,
    };
  }
}

function deltaOf(piece: VendorPiece): object {
  switch (piece.kind) {
    case 'reasoning':
      return { content: null, reasoning_content: piece.text };
    case 'text':
      return { content: piece.text };
    case 'image':
      return { content: '', images: [imageOf(piece)] };
    case 'tool': {
      // The first fragment comes with the name; id and name are not repeated.
      const named = piece.first ? { id: piece.call.id, type: 'function' } : {};
      const called = piece.first ? { name: piece.call.name, arguments: piece.fragment } : { arguments: piece.fragment };
      return { tool_calls: [{ index: piece.index, ...named, function: called }] };
    }
  }
}

/** All events of a whole answer, as texts of data; the last one is `[DONE]`. */
export function* eventsOf(answer: VendorAnswer, request: Pick<VendorRequest, 'model' | 'body'>): Generator<string> {
  const stream = new ChunkStream(answer, request);
  yield JSON.stringify(stream.start());
  for (const piece of piecesOf(answer)) yield JSON.stringify(stream.piece(piece));
  for (const event of stream.end()) yield JSON.stringify(event);
  yield '[DONE]';
}

/** A whole answer for a request without streaming. */
export function completionOf(answer: VendorAnswer, model: string): object {
  const text = [...(answer.text ?? [])].join('');
  const reasoning = [...(answer.reasoning ?? [])].join('');
  const calls = (answer.toolCalls ?? []).map(({ id, name, arguments: fragments }) => ({
    id,
    type: 'function',
    function: { name, arguments: fragments.join('') },
  }));
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(answer.images === undefined ? {} : { images: answer.images.map(imageOf) }),
    refusal: null,
    annotations: [],
  };
  return {
    id: 'chatcmpl-scripted',
    object: 'chat.completion',
    created: CREATED,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(answer) }],
    usage: usageFields(answer),
    service_tier: 'default',
    system_fingerprint: FINGERPRINT,
  };
}

function imageOf(image: { readonly mimeType: string; readonly data: string }): object {
  return { type: 'image_url', image_url: { url: `data:${image.mimeType};base64,${image.data}` } };
}

function usageFields(answer: VendorAnswer): object {
  const { prompt, completion, cached = 0, written, reasoning = 0 } = usageOf(answer);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: cached,
      audio_tokens: 0,
      ...(written === undefined ? {} : { cache_write_tokens: written }),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

const ERROR_TYPES: Readonly<Record<number, readonly [type: string, code: string | null]>> = {
  401: ['invalid_request_error', 'invalid_api_key'],
  404: ['invalid_request_error', 'model_not_found'],
  429: ['requests', 'rate_limit_exceeded'],
};

export function errorOf(status: number, message: string): object {
  const [type, code] = ERROR_TYPES[status] ?? [status >= 500 ? 'server_error' : 'invalid_request_error', null];
  return { error: { message, type, param: null, code } };
}

/** The listing; a name alone becomes an entry in OpenAI's way. */
export function listingOf(models: readonly (string | object)[]): object {
  const data = models.map((model) =>
    typeof model === 'string' ? { id: model, object: 'model', created: CREATED, owned_by: 'scripted' } : model,
  );
  return { object: 'list', data };
}
