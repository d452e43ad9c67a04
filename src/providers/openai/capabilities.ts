import { boundedCache } from '../../core/bounded-cache.ts';
import type { Model } from '../../core/model.ts';

/** What a name says about a model. */
export type Capabilities = Omit<Model, 'id'>;

type Row = readonly [pattern: RegExp, capabilities: Capabilities];

// Names look like `gpt-4o`, `meta-llama/Llama-3.3-70B-Instruct`, `accounts/fireworks/models/llama-v3p3-70b`, `@cf/…`,
// `qwen2.5vl:7b` and `hf.co/someone/Some-Model-GGUF:Q4_K_M`. They are matched in lower case.

/** Models that do something else than chat. The first row that matches decides. */
const KINDS: readonly Row[] = [
  [/rerank/, { type: 'rerank' }],
  [/embed|(?:^|\/)(?:voyage|bge|gte|all-minilm|(?:multilingual-)?e5)-/, { type: 'embedding' }],
  [/moderation|llama-?guard|shieldgemma|granite-guardian|prompt-guard/, { type: 'moderation' }],
  [
    /whisper|transcri(?:be|ption)|parakeet|canary-|(?:^|[-/])(?:asr|stt)(?:[-:]|$)/,
    { type: 'transcription', audio: true },
  ],
  [/(?:^|[-/])(?:mel[o-])?tts(?:[-:]|$)|text-to-speech|kokoro|orpheus|speecht5/, { type: 'speech', audio: true }],
  // They talk through a socket of their own and answer no chat completions.
  [/realtime|native-audio|(?:^|[-/])live-/, { type: 'speech', audio: true }],
  [/(?:^|[-/])(?:sora|veo|kling|seedance|hailuo|vidu|mochi)-?\d/, { type: 'video', video: true }],
  [/cogvideo|hunyuan-?video|ltx-?video|imagine-video|text-to-video|(?:^|[-/])wan-?\d/, { type: 'video', video: true }],
  [
    /dall-e|gpt-image|chatgpt-image|sdxl|sd-cpp|stable-?diffusion|text-to-image|(?:qwen|[-/]z|grok-\d)-image/,
    { type: 'image', image: true },
  ],
  [
    /(?:^|[-/])(?:flux|imagen|ideogram|recraft|seedream|hidream|midjourney|playground-v|dreamshaper|sd3)(?:[-.:\d]|$)/,
    { type: 'image', image: true },
  ],
  [/imagine-image|lucid-origin/, { type: 'image', image: true }],
];

/** Families of chat models. All rows that match are added up, later ones win. */
const FAMILIES: readonly Row[] = [
  [/gpt-(?:3\.5|4|[5-9]|oss)/, { tools: true }],
  [/gpt-4o|gpt-4[.-](?:1|5|turbo|vision)|gpt-[5-9](?:[-.:\d]|$)/, { vision: true, tools: true }],
  [/gpt-oss|gpt-[5-9](?:[-.:\d]|$)/, { reasoning: true }],
  [/gpt-[5-9][-.\d]*-chat/, { reasoning: false }],
  [/gpt-(?:4o-)?(?:mini-)?audio/, { audio: true, vision: false }],
  [/(?:^|\/)o[1-9](?:[-:]|$)/, { reasoning: true, tools: true, vision: true }],
  [/(?:^|\/)o(?:1-mini|1-preview|3-mini)/, { vision: false }],
  [/claude-(?:[3-9]|opus|sonnet|haiku|fable|mythos)/, { vision: true, tools: true }],
  [/claude-(?:3[-.]7|[4-9]|(?:opus|sonnet|haiku|fable|mythos)-[4-9])/, { reasoning: true }],
  [/gemini/, { vision: true, tools: true, audio: true }],
  [/gemini-(?:2\.5|[3-9]|flash-latest|pro-latest)/, { reasoning: true }],
  [/gemini.*-image|nano-banana/, { image: true, vision: true }],
  [/llama-?v?3[.p]?[1-3]/, { tools: true }],
  [/llama-?v?4/, { tools: true, vision: true }],
  [/gemma-?3(?!.*(?:270m|[-:]1b))/, { vision: true }],
  [/gemma-?[4-9]/, { vision: true, tools: true, reasoning: true }],
  [/qwen-?(?:2[.p]?5|3|max|plus|turbo|flash)/, { tools: true }],
  [/qwen-?3(?!.*(?:instruct|coder))|qwq|qvq/, { reasoning: true }],
  [/qwen-?3[.p][5-9]|qvq/, { vision: true }],
  [/(?:mi(?:s|x)tral|ministral|codestral|devstral|magistral|pixtral|voxtral)/, { tools: true }],
  [
    /pixtral|mistral-(?:small|medium)-?(?:3[.p][12]|25|latest)|mistral-large-?(?:3|latest)|ministral-?3/,
    { vision: true },
  ],
  [/magistral/, { reasoning: true }],
  [/deepseek-(?:chat|flash|v[3-9])/, { tools: true }],
  [/deepseek-(?:r1|reasoner|flash|v3[.p][1-9]|v[4-9])/, { reasoning: true }],
  [/deepseek-(?:flash|v4[.p]1)/, { vision: true }],
  [/kimi-k/, { tools: true }],
  [/kimi-(?:k2[.p][5-9]|k[3-9])/, { vision: true, reasoning: true }],
  [/glm-[4-9]/, { tools: true }],
  [/glm-(?:4[.p][5-9]|[5-9])/, { reasoning: true }],
  [/glm-[\d.p]+v(?:[-:]|$)/, { vision: true }],
  [/grok-[2-9]/, { tools: true }],
  [/grok-[4-9]/, { vision: true, reasoning: true }],
  [/grok-3-mini|grok-code/, { reasoning: true, tools: true }],
  [/minimax-m\d/, { tools: true, reasoning: true }],
  [/command-(?:r|a)/, { tools: true }],
  [/(?:^|[-./])nova-(?:lite|pro|premier)/, { vision: true, tools: true }],
  [
    /llava|moondream|minicpm-v|internvl|molmo|idefics|paligemma|smolvlm|cogvlm|phi-?\d?(?:\.5)?.*multimodal/,
    { vision: true },
  ],
  [/vision|(?:\d|[-_])vl(?:[-_:\d]|$)|omni/, { vision: true }],
  [/(?:^|[-/])audio|voxtral|omni(?!-?parser)/, { audio: true }],
  [/think(?:ing|er)|reason(?:er|ing)/, { reasoning: true }],
  [/(?:non|no|without)-?(?:think|reason)/, { reasoning: false }],
];

/**
 * What a model can probably do, judged by its name alone: a guess for the many upstreams whose listing has nothing but
 * names. It may be wrong both ways; what an upstream says about a model wins over it.
 */
export function capabilitiesOf(id: string): Capabilities {
  let known = KNOWN.get(id);
  if (known === undefined) {
    known = Object.freeze(judged(id.toLowerCase()));
    // Names may be of any length.
    if (id.length <= LONGEST_KNOWN) KNOWN.set(id, known);
  }
  return known;
}

/** Some fifty patterns; asked of the same few names with every request. */
const KNOWN = boundedCache<string, Capabilities>(2_000);
const LONGEST_KNOWN = 256;

function judged(name: string): Capabilities {
  for (const [pattern, capabilities] of KINDS) if (pattern.test(name)) return capabilities;
  const found: Record<string, unknown> = {};
  for (const [pattern, capabilities] of FAMILIES) if (pattern.test(name)) Object.assign(found, capabilities);
  return withoutFalse(found);
}

/** The same without `false`: absent means unknown or no. */
export function withoutFalse(capabilities: Capabilities): Capabilities {
  return Object.fromEntries(Object.entries(capabilities).filter(([, value]) => value !== false && value !== undefined));
}
