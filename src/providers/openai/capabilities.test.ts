import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Capabilities, capabilitiesOf } from './capabilities.ts';

const expected: readonly (readonly [id: string, capabilities: Capabilities])[] = [
  ['gpt-4o', { vision: true, tools: true }],
  ['openai/gpt-4.1-mini', { vision: true, tools: true }],
  ['gpt-5-mini', { vision: true, tools: true, reasoning: true }],
  ['gpt-6-luna', { vision: true, tools: true, reasoning: true }],
  ['gpt-5.3-chat-latest', { vision: true, tools: true }],
  ['gpt-3.5-turbo', { tools: true }],
  ['gpt-4o-audio-preview', { tools: true, audio: true }],
  ['openai/gpt-oss-120b', { tools: true, reasoning: true }],
  ['o3', { vision: true, tools: true, reasoning: true }],
  ['o1-mini', { tools: true, reasoning: true }],
  ['claude-3-5-haiku-20241022', { vision: true, tools: true }],
  ['anthropic/claude-sonnet-4.5', { vision: true, tools: true, reasoning: true }],
  ['claude-2.1', {}],
  ['gemini-2.0-flash', { vision: true, tools: true, audio: true }],
  ['google/gemini-3-pro', { vision: true, tools: true, audio: true, reasoning: true }],
  ['gemini-2.5-flash-image', { vision: true, tools: true, audio: true, reasoning: true, image: true }],
  ['meta-llama/Llama-3.3-70B-Instruct', { tools: true }],
  ['@cf/meta/llama-3.2-11b-vision-instruct', { vision: true, tools: true }],
  ['accounts/fireworks/models/llama4-scout-instruct-basic', { vision: true, tools: true }],
  ['llama2:7b', {}],
  ['gemma3:4b', { vision: true }],
  ['gemma3:1b', {}],
  ['qwen2.5vl:7b', { vision: true, tools: true }],
  ['Qwen/Qwen3-VL-235B-A22B-Instruct', { vision: true, tools: true }],
  ['qwen3:0.6b', { tools: true, reasoning: true }],
  ['qwen3-coder:30b', { tools: true }],
  ['qwq-32b', { reasoning: true }],
  ['pixtral-12b-2409', { vision: true, tools: true }],
  ['mistral-small-latest', { vision: true, tools: true }],
  ['magistral-medium-2509', { tools: true, reasoning: true }],
  ['deepseek-r1:8b', { reasoning: true }],
  ['deepseek-reasoner', { reasoning: true }],
  ['deepseek-chat', { tools: true }],
  ['deepseek-ai/DeepSeek-V3.2', { tools: true, reasoning: true }],
  ['kimi-k2.6', { vision: true, tools: true, reasoning: true }],
  ['glm-4.5v', { vision: true, tools: true, reasoning: true }],
  ['grok-4.20-0309-non-reasoning', { vision: true, tools: true }],
  ['grok-3-mini', { tools: true, reasoning: true }],
  ['llava:13b', { vision: true }],
  ['some-model-nobody-knows', {}],
  ['tinyllama-1.1b-chat', {}],
  ['dall-e-3', { type: 'image', image: true }],
  ['gpt-image-2.5-flare', { type: 'image', image: true }],
  ['black-forest-labs/FLUX.1-schnell', { type: 'image', image: true }],
  ['@cf/bytedance/stable-diffusion-xl-lightning', { type: 'image', image: true }],
  ['imagen-4.0-generate-001', { type: 'image', image: true }],
  ['grok-2-image-1212', { type: 'image', image: true }],
  ['sora-2', { type: 'video', video: true }],
  ['google/veo-3.1', { type: 'video', video: true }],
  ['whisper-large-v3-turbo', { type: 'transcription', audio: true }],
  ['gpt-4o-mini-transcribe', { type: 'transcription', audio: true }],
  ['tts-1-hd', { type: 'speech', audio: true }],
  ['gpt-4o-mini-tts', { type: 'speech', audio: true }],
  ['hexgrad/Kokoro-82M', { type: 'speech', audio: true }],
  ['gpt-realtime', { type: 'speech', audio: true }],
  ['text-embedding-3-small', { type: 'embedding' }],
  ['nomic-embed-text:latest', { type: 'embedding' }],
  ['BAAI/bge-m3', { type: 'embedding' }],
  ['BAAI/bge-reranker-v2-m3', { type: 'rerank' }],
  ['omni-moderation-latest', { type: 'moderation' }],
  ['meta-llama/Llama-Guard-4-12B', { type: 'moderation' }],
];

describe('capabilitiesOf', () => {
  for (const [id, capabilities] of expected) {
    test(id, () => assert.deepEqual(capabilitiesOf(id), capabilities));
  }

  test('names that only an object would trip over say nothing', () => {
    for (const id of ['__proto__', 'constructor', '']) assert.deepEqual(capabilitiesOf(id), {});
  });
});
