import { crc32 } from 'node:zlib';
import { finishOf, usageOf, type VendorAnswer, type VendorPiece, type VendorScript } from './vendor-script.ts';
import {
  elements,
  member,
  startVendorServer,
  type VendorFormat,
  type VendorStream,
  type VendorUpstream,
} from './vendor-server.ts';

/** An upstream that speaks Amazon Bedrock's Converse API (`/model/<id>/converse-stream`, binary event stream). */
export function startBedrockUpstream(script: VendorScript): Promise<VendorUpstream> {
  return startVendorServer(format, script, '');
}

const STOP_REASONS = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'content_filtered',
} as const;

const format: VendorFormat = {
  contentType: 'application/vnd.amazon.eventstream',
  read(body, path) {
    const blocks = elements(member(body, 'messages')).flatMap((message) => elements(member(message, 'content')));
    const flat = blocks.flatMap((block) => {
      const content = member(block, 'toolResult', 'content');
      return content === undefined ? [block] : elements(content);
    });
    const texts = flat.flatMap((block) => {
      const text = member(block, 'text');
      return typeof text === 'string' ? [text] : [];
    });
    return {
      model: decodeURIComponent(/^\/model\/([^/]+)\//.exec(path)?.[1] ?? ''),
      stream: path.endsWith('/converse-stream'),
      prompt: texts.at(-1) ?? '',
      images: flat.filter((block) => member(block, 'image') !== undefined).length,
      tools: elements(member(body, 'toolConfig', 'tools')).map((tool) => String(member(tool, 'toolSpec', 'name'))),
    };
  },
  open: (answer) => new ConverseStream(answer),
  whole() {
    throw new Error('only streams are scripted');
  },
  failure: (_status, message) => JSON.stringify({ message }),
  models: {},
};

class ConverseStream implements VendorStream {
  readonly #answer: VendorAnswer;
  #index = -1;
  #open = '';

  constructor(answer: VendorAnswer) {
    this.#answer = answer;
  }

  start(): Buffer {
    return frame('messageStart', { role: 'assistant' });
  }

  piece(piece: VendorPiece): Buffer {
    switch (piece.kind) {
      case 'reasoning':
        return Buffer.concat([this.#block('reasoning'), this.#delta({ reasoningContent: { text: piece.text } })]);
      case 'text':
        return Buffer.concat([this.#block('text'), this.#delta({ text: piece.text })]);
      case 'image':
        throw new Error('images are not scripted');
      case 'tool': {
        const toolUse = { toolUseId: piece.call.id, name: piece.call.name };
        return Buffer.concat([
          this.#block(`tool ${piece.index}`, { toolUse }),
          this.#delta({ toolUse: { input: piece.fragment } }),
        ]);
      }
    }
  }

  end(): Buffer {
    const { prompt, completion, cached } = usageOf(this.#answer);
    const usage = {
      inputTokens: prompt - (cached ?? 0),
      outputTokens: completion,
      totalTokens: prompt + completion,
      ...(cached === undefined ? {} : { cacheReadInputTokens: cached }),
    };
    return Buffer.concat([
      this.#close(),
      frame('messageStop', { stopReason: STOP_REASONS[finishOf(this.#answer)] }),
      frame('metadata', { usage, metrics: { latencyMs: 1 } }),
    ]);
  }

  fault(message: string): Buffer {
    return frame('throttlingException', { message }, 'exception');
  }

  /** Blocks of text and reasoning begin with their first delta; only tool calls are announced. */
  #block(name: string, start?: object): Buffer {
    if (this.#open === name) return Buffer.alloc(0);
    const closing = this.#close();
    this.#open = name;
    this.#index += 1;
    if (start === undefined) return closing;
    return Buffer.concat([closing, frame('contentBlockStart', { contentBlockIndex: this.#index, start })]);
  }

  #close(): Buffer {
    if (this.#open === '') return Buffer.alloc(0);
    const signature =
      this.#open === 'reasoning' ? this.#delta({ reasoningContent: { signature: 'c2ln' } }) : Buffer.alloc(0);
    this.#open = '';
    return Buffer.concat([signature, frame('contentBlockStop', { contentBlockIndex: this.#index })]);
  }

  #delta(delta: object): Buffer {
    return frame('contentBlockDelta', { contentBlockIndex: this.#index, delta });
  }
}

/** One message of `application/vnd.amazon.eventstream`: lengths, CRC, headers, payload, CRC; all big endian. */
function frame(type: string, payload: object, kind: 'event' | 'exception' = 'event'): Buffer {
  const headers = Buffer.concat([
    header(`:${kind}-type`, type),
    header(':content-type', 'application/json'),
    header(':message-type', kind),
  ]);
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + headers.length + body.length, 0);
  prelude.writeUInt32BE(headers.length, 4);
  const start = Buffer.concat([prelude, checksum(prelude), headers, body]);
  return Buffer.concat([start, checksum(start)]);
}

function header(name: string, value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  const STRING = 7;
  return Buffer.concat([
    Buffer.from([Buffer.byteLength(name)]),
    Buffer.from(name),
    Buffer.from([STRING]),
    length,
    Buffer.from(value),
  ]);
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}
