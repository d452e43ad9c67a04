import { finishOf, usageOf, type VendorAnswer, type VendorPiece, type VendorScript } from './vendor-script.ts';
import {
  elements,
  member,
  startVendorServer,
  type VendorFormat,
  type VendorStream,
  type VendorUpstream,
} from './vendor-server.ts';

/** An upstream that speaks Google's Gemini API (`v1beta`, `:streamGenerateContent?alt=sse`). */
export function startGeminiUpstream(script: VendorScript): Promise<VendorUpstream> {
  return startVendorServer(format, script, '/v1beta');
}

const FINISH_REASONS = { stop: 'STOP', length: 'MAX_TOKENS', tool_calls: 'STOP', content_filter: 'SAFETY' } as const;

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

const format: VendorFormat = {
  contentType: 'text/event-stream',
  read(body, path) {
    const parts = elements(member(body, 'contents')).flatMap((content) => elements(member(content, 'parts')));
    const texts = parts.flatMap((part) => {
      const text = member(part, 'text') ?? member(part, 'functionResponse', 'response', 'content');
      return typeof text === 'string' ? [text] : [];
    });
    const declarations = elements(member(body, 'tools')).flatMap((tool) =>
      elements(member(tool, 'functionDeclarations')),
    );
    return {
      model: /models\/([^/:]+):/.exec(path)?.[1] ?? '',
      stream: path.includes(':streamGenerateContent'),
      prompt: texts.at(-1) ?? '',
      images: parts.filter((part) =>
        /^image\//.test(String(member(part, 'inlineData', 'mimeType') ?? member(part, 'fileData', 'mimeType'))),
      ).length,
      tools: declarations.map((declaration) => String(member(declaration, 'name'))),
    };
  },
  open: (answer) => new ContentStream(answer),
  whole(answer, { path, body }) {
    const modalities = elements(member(body, 'generationConfig', 'responseModalities'));
    if (modalities.includes('AUDIO')) return JSON.stringify(spoken(answer));
    const embedding = { values: answer.vector ?? [] };
    if (path.endsWith(':countTokens')) return JSON.stringify({ totalTokens: usageOf(answer).prompt });
    if (path.endsWith(':embedContent')) return JSON.stringify({ embedding });
    if (path.endsWith(':batchEmbedContents')) {
      return JSON.stringify({ embeddings: elements(member(body, 'requests')).map(() => embedding) });
    }
    return JSON.stringify(new ContentStream(answer).whole());
  },
  failure: (status, message) => JSON.stringify(failure(status, message)),
  models: {
    models: [
      {
        name: 'models/gemini-2.5-flash',
        displayName: 'Gemini 2.5 Flash',
        inputTokenLimit: 1_048_576,
        outputTokenLimit: 65_536,
        supportedGenerationMethods: ['generateContent', 'countTokens'],
        thinking: true,
      },
      {
        name: 'models/gemini-2.5-flash-image',
        displayName: 'Nano Banana',
        inputTokenLimit: 32_768,
        supportedGenerationMethods: ['generateContent'],
      },
      { name: 'models/gemini-embedding-001', supportedGenerationMethods: ['embedContent'] },
      { name: 'models/gemini-2.5-flash-preview-tts', supportedGenerationMethods: ['generateContent'] },
    ],
  },
};

/** What each event and answer says of itself. */
const NAMES = { modelVersion: 'gemini-2.5-flash', responseId: 'resp_scripted' };

class ContentStream implements VendorStream {
  readonly #answer: VendorAnswer;
  /** Fragments of the running call: this API hands over whole ones. */
  #fragments: string[] = [];

  constructor(answer: VendorAnswer) {
    this.#answer = answer;
  }

  start(): string {
    return '';
  }

  piece(piece: VendorPiece): string {
    const part = this.#part(piece);
    return part === undefined ? '' : event({ candidates: [candidate([part])], ...NAMES });
  }

  end(): string {
    const finishReason = FINISH_REASONS[finishOf(this.#answer)];
    const usageMetadata = usageFields(this.#answer);
    return event({ candidates: [{ ...candidate([]), finishReason }], usageMetadata, ...NAMES });
  }

  fault(message: string): string {
    return event(failure(503, message));
  }

  whole(): object {
    const parts: object[] = [];
    for (const [index, call] of (this.#answer.toolCalls ?? []).entries()) {
      parts.push(functionCall(call.id, call.name, call.arguments.join(''), index === 0));
    }
    for (const text of this.#answer.text ?? []) parts.unshift({ text });
    const finishReason = FINISH_REASONS[finishOf(this.#answer)];
    return { candidates: [{ ...candidate(parts), finishReason }], usageMetadata: usageFields(this.#answer), ...NAMES };
  }

  #part(piece: VendorPiece): object | undefined {
    switch (piece.kind) {
      case 'reasoning':
        return { text: piece.text, thought: true };
      case 'text':
        return { text: piece.text };
      case 'image':
        return { inlineData: { mimeType: piece.mimeType, data: piece.data } };
      case 'tool': {
        this.#fragments.push(piece.fragment);
        if (!piece.last) return undefined;
        const text = this.#fragments.join('');
        this.#fragments = [];
        return functionCall(piece.call.id, piece.call.name, text, piece.index === 0);
      }
    }
  }
}

/** The text of an answer stands for its samples. */
function spoken(answer: VendorAnswer): object {
  const data = Buffer.from([...(answer.text ?? [])].join(''), 'latin1').toString('base64');
  const parts = [{ inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data } }];
  return { candidates: [{ ...candidate(parts), finishReason: 'STOP' }], usageMetadata: usageFields(answer) };
}

/** The first call of an answer carries the signature of the thoughts behind all of them. */
function functionCall(id: string, name: string, text: string, first: boolean): object {
  return {
    functionCall: { id, name, ...(text === '' ? {} : { args: JSON.parse(text) }) },
    ...(first ? { thoughtSignature: `sig-${id}` } : {}),
  };
}

function candidate(parts: readonly object[]): object {
  return { content: { parts, role: 'model' }, index: 0 };
}

function event(value: object): string {
  return `data: ${JSON.stringify(value)}\r\n\r\n`;
}

function failure(status: number, message: string): object {
  return { error: { code: status, message, status: STATUS_NAMES[status] ?? 'UNKNOWN' } };
}

/** Gemini counts thoughts beside the candidates' tokens, not among them. */
function usageFields(answer: VendorAnswer): object {
  const { prompt, completion, cached, reasoning = 0 } = usageOf(answer);
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: completion - reasoning,
    totalTokenCount: prompt + completion,
    ...(cached === undefined ? {} : { cachedContentTokenCount: cached }),
    ...(reasoning === 0 ? {} : { thoughtsTokenCount: reasoning }),
  };
}
