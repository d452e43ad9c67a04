import { encodeGguf, type GgufTensor, type GgufValue } from './gguf-bytes.ts';

/**
 * A language model of about 120 KB that any llama.cpp loads, and whose answer is known in advance.
 *
 * It is a bigram chain: the attention and feed-forward weights of its only layer are zero, so what reaches the output
 * matrix is the embedding of the last token alone. Each token has a random code of ±1; the output row of a token is
 * the code of the token before it in `says`, so that one wins by far: 64 against noise of about ±25.
 */
export interface TinyModel {
  /**
   * The answer, as the model's tokens in order: words and single bytes, written as text. No token twice, since a
   * token knows only one successor.
   */
  readonly says: readonly string[];
  /** Start over instead of stopping: an answer without end, for tests that cancel. */
  readonly endless?: boolean;
  /** Tokens of context it claims to have been trained with. */
  readonly contextLength?: number;
  /** Jinja; it must end the prompt with the text `<|assistant|>`, which starts the answer. */
  readonly template?: string;
}

/** What `TINY_SENTENCE` makes the model say. */
export const TINY_ANSWER =
  'Hello! This tiny model always says the same sentence: café ☕, twelve words and two odd letters.';

/** The same as tokens: words with their leading space, and the bytes of what no word covers. */
export const TINY_SENTENCE: readonly string[] = tokensOf(TINY_ANSWER);

const WIDTH = 64;
const FEED_FORWARD = 32;
const UNKNOWN = 0;
const BEGIN = 1;
const END = 2;
const ASSISTANT = 3;
const CONTROL: readonly string[] = ['<unk>', '<s>', '</s>', '<|assistant|>'];
const TEMPLATE =
  "{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] }}" +
  "{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}";

// llama.cpp's numbers for kinds of tokens.
const KIND = { normal: 1, unknown: 2, control: 3, byte: 6 } as const;

/** Splits text into words with their leading space; what is beyond ASCII becomes single bytes. */
export function tokensOf(text: string): readonly string[] {
  return (text.match(/ ?[\x21-\x7e]+| |[^\x20-\x7e]+/g) ?? []).flatMap((word) =>
    /^[\x20-\x7e]+$/.test(word) ? [word] : [...Buffer.from(word)].map(byteToken),
  );
}

/** The bytes of the model's file. The same options give the same bytes. */
export function makeTinyGguf(model: TinyModel = { says: TINY_SENTENCE }): Buffer {
  const words = model.says.filter((token) => !isByteToken(token));
  const bytes = Array.from({ length: 256 }, (_, byte) => byteToken(byte));
  const tokens = [...CONTROL, ...bytes, ...words];
  if (new Set(tokens).size !== tokens.length) throw new Error('a word occurs twice, or is a control token');
  const chain = [ASSISTANT, ...model.says.map((token) => tokens.indexOf(token))];
  if (new Set(chain).size !== chain.length) throw new Error('a token occurs twice, so its successor is ambiguous');

  const codes = randomCodes(tokens.length);
  const output = new Float32Array(tokens.length * WIDTH);
  chain.forEach((token, index) => {
    const next = chain[index + 1] ?? (model.endless ? chain[1] : END) ?? END;
    // The first word of an endless answer follows both the prompt and the last word, so rows add up.
    for (let i = 0; i < WIDTH; i++)
      output[next * WIDTH + i] = at(output, next * WIDTH + i) + at(codes, token * WIDTH + i);
  });
  return encodeGguf(metadataOf(model, tokens), tensorsOf(codes, output, tokens.length));
}

function metadataOf(model: TinyModel, tokens: readonly string[]): Record<string, GgufValue> {
  const kinds = tokens.map((token, id) => {
    if (id === UNKNOWN) return KIND.unknown;
    if (id < CONTROL.length) return KIND.control;
    return isByteToken(token) ? KIND.byte : KIND.normal;
  });
  return {
    'general.architecture': { kind: 'string', value: 'llama' },
    'general.name': { kind: 'string', value: 'tiny bigram chain' },
    'general.file_type': { kind: 'u32', value: 1 },
    'llama.context_length': { kind: 'u32', value: model.contextLength ?? 2048 },
    'llama.embedding_length': { kind: 'u32', value: WIDTH },
    'llama.block_count': { kind: 'u32', value: 1 },
    'llama.feed_forward_length': { kind: 'u32', value: FEED_FORWARD },
    'llama.attention.head_count': { kind: 'u32', value: 1 },
    'llama.attention.head_count_kv': { kind: 'u32', value: 1 },
    'llama.attention.layer_norm_rms_epsilon': { kind: 'f32', value: 1e-5 },
    'llama.rope.dimension_count': { kind: 'u32', value: WIDTH },
    'llama.vocab_size': { kind: 'u32', value: tokens.length },
    'tokenizer.ggml.model': { kind: 'string', value: 'llama' },
    // U+2581 stands for a space in this family of tokenizers.
    'tokenizer.ggml.tokens': { kind: 'strings', value: tokens.map((token) => token.replaceAll(' ', '\u2581')) },
    'tokenizer.ggml.scores': { kind: 'f32s', value: tokens.map((_, id) => -id) },
    'tokenizer.ggml.token_type': { kind: 'i32s', value: kinds },
    'tokenizer.ggml.unknown_token_id': { kind: 'u32', value: UNKNOWN },
    'tokenizer.ggml.bos_token_id': { kind: 'u32', value: BEGIN },
    'tokenizer.ggml.eos_token_id': { kind: 'u32', value: END },
    'tokenizer.ggml.add_bos_token': { kind: 'bool', value: true },
    'tokenizer.ggml.add_space_prefix': { kind: 'bool', value: false },
    'tokenizer.chat_template': { kind: 'string', value: model.template ?? TEMPLATE },
  };
}

function tensorsOf(codes: Float32Array, output: Float32Array, vocabulary: number): GgufTensor[] {
  const zero = (name: string, input: number, out: number): GgufTensor => ({
    name: `blk.0.${name}.weight`,
    shape: [input, out],
    values: new Float32Array(input * out),
    type: 'f16',
  });
  const ones = (name: string): GgufTensor => ({
    name: `${name}.weight`,
    shape: [WIDTH],
    values: new Float32Array(WIDTH).fill(1),
    type: 'f32',
  });
  return [
    { name: 'token_embd.weight', shape: [WIDTH, vocabulary], values: codes, type: 'f16' },
    { name: 'output.weight', shape: [WIDTH, vocabulary], values: output, type: 'f16' },
    ones('output_norm'),
    ones('blk.0.attn_norm'),
    ones('blk.0.ffn_norm'),
    zero('attn_q', WIDTH, WIDTH),
    zero('attn_k', WIDTH, WIDTH),
    zero('attn_v', WIDTH, WIDTH),
    zero('attn_output', WIDTH, WIDTH),
    zero('ffn_gate', WIDTH, FEED_FORWARD),
    zero('ffn_up', WIDTH, FEED_FORWARD),
    zero('ffn_down', FEED_FORWARD, WIDTH),
  ];
}

/** ±1 from a linear congruential generator with a fixed seed (constants of Numerical Recipes). */
function randomCodes(count: number): Float32Array {
  let state = 20_261_120;
  return Float32Array.from({ length: count * WIDTH }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >= 0x8000_0000 ? 1 : -1;
  });
}

function byteToken(byte: number): string {
  return `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`;
}

function isByteToken(token: string): boolean {
  return /^<0x[0-9A-F]{2}>$/.test(token);
}

function at(values: Float32Array, index: number): number {
  return values[index] ?? 0;
}
