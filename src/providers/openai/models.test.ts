import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isChatModel } from '../../core/model.ts';
import { parseModels } from './models.ts';

/** The one model of a listing with one entry. */
function parseOne(entry: unknown) {
  const models = parseModels({ object: 'list', data: [entry] });
  assert.equal(models.length, 1);
  return models[0];
}

describe('parseModels: what each upstream sends', () => {
  test('OpenAI: names only, so the rest is guessed', () => {
    const body = {
      object: 'list',
      data: [
        { id: 'gpt-4o', object: 'model', created: 1715367049, owned_by: 'system' },
        { id: 'text-embedding-3-small', object: 'model', created: 1705948997, owned_by: 'system' },
      ],
    };
    assert.deepEqual(parseModels(body), [
      { id: 'gpt-4o', vision: true, tools: true },
      { id: 'text-embedding-3-small', type: 'embedding' },
    ]);
  });

  test('OpenRouter', () => {
    const model = parseOne({
      id: 'openai/gpt-4o',
      name: 'OpenAI: GPT-4o',
      context_length: 128000,
      architecture: {
        modality: 'text+image->text',
        input_modalities: ['text', 'image', 'file'],
        output_modalities: ['text'],
      },
      supported_parameters: ['max_tokens', 'temperature', 'tools', 'tool_choice'],
    });
    assert.deepEqual(model, {
      id: 'openai/gpt-4o',
      label: 'OpenAI: GPT-4o',
      type: 'chat',
      vision: true,
      tools: true,
      contextLength: 128000,
    });
  });

  test('OpenRouter: what is said wins over the name, also when it is no', () => {
    const model = parseOne({
      id: 'someone/gpt-4o-clone-thinking',
      architecture: { input_modalities: ['text'], output_modalities: ['text'] },
      supported_parameters: ['temperature'],
    });
    assert.deepEqual(model, { id: 'someone/gpt-4o-clone-thinking', type: 'chat' });
  });

  test('OpenRouter: a chat model that also makes images', () => {
    const model = parseOne({
      id: 'google/gemini-2.5-flash-image',
      architecture: { input_modalities: ['image', 'text'], output_modalities: ['image', 'text'] },
    });
    assert.ok(model && isChatModel(model));
    assert.equal(model.image, true);
    assert.equal(model.audio, undefined);
  });

  test('Mistral', () => {
    const model = parseOne({
      id: 'mistral-medium-2508',
      object: 'model',
      name: 'mistral-medium-2508',
      max_context_length: 131072,
      capabilities: { completion_chat: true, completion_fim: false, function_calling: true, vision: true },
    });
    assert.deepEqual(model, { id: 'mistral-medium-2508', vision: true, tools: true, contextLength: 131072 });
  });

  test('Mistral: embeddings keep their kind, document readers are left out', () => {
    const capabilities = { completion_chat: false, function_calling: false, vision: false };
    const models = parseModels({
      data: [
        { id: 'mistral-embed', capabilities },
        { id: 'mistral-ocr-latest', capabilities: { ...capabilities, vision: true } },
      ],
    });
    assert.deepEqual(models, [{ id: 'mistral-embed', type: 'embedding' }]);
  });

  test('Groq', () => {
    const model = parseOne({ id: 'llama-3.1-8b-instant', object: 'model', active: true, context_window: 131072 });
    assert.deepEqual(model, { id: 'llama-3.1-8b-instant', tools: true, contextLength: 131072 });
  });

  test('Together: a bare array with kinds', () => {
    const models = parseModels([
      { id: 'meta-llama/Llama-3.3-70B', type: 'chat', display_name: 'Llama 3.3 70B', context_length: 131072 },
      { id: 'black-forest-labs/FLUX.2', type: 'image', display_name: 'FLUX.2' },
      { id: 'cartesia/sonic-3', type: 'audio' },
      { id: 'someone/whisper-chat', type: 'chat' },
    ]);
    assert.deepEqual(models, [
      { id: 'meta-llama/Llama-3.3-70B', label: 'Llama 3.3 70B', type: 'chat', tools: true, contextLength: 131072 },
      { id: 'black-forest-labs/FLUX.2', label: 'FLUX.2', type: 'image', image: true },
      { id: 'cartesia/sonic-3', type: 'speech', audio: true },
      { id: 'someone/whisper-chat', type: 'chat' },
    ]);
  });

  test('vLLM', () => {
    const model = parseOne({
      id: 'my-model',
      object: 'model',
      owned_by: 'vllm',
      root: '/models/x',
      max_model_len: 8192,
    });
    assert.deepEqual(model, { id: 'my-model', contextLength: 8192 });
  });

  test('llama.cpp: data, not models', () => {
    const body = {
      models: [{ name: '/models/file.gguf', model: '/models/file.gguf', capabilities: ['completion'] }],
      object: 'list',
      data: [{ id: 'file.gguf', object: 'model', owned_by: 'llamacpp', meta: { n_ctx_train: 40960, n_params: 1 } }],
    };
    assert.deepEqual(parseModels(body), [{ id: 'file.gguf', contextLength: 40960 }]);
  });

  test('Ollama: its own listing, and an empty one in the OpenAI format', () => {
    const body = { models: [{ name: 'llava:13b', model: 'llava:13b', details: { family: 'llama' } }] };
    assert.deepEqual(parseModels(body), [{ id: 'llava:13b', vision: true }]);
    assert.deepEqual(parseModels({ object: 'list', data: null }), []);
  });

  test('LM Studio: both generations', () => {
    const first = parseOne({
      id: 'my-vlm',
      type: 'vlm',
      state: 'loaded',
      max_context_length: 32768,
      loaded_context_length: 4096,
      capabilities: ['tool_use'],
    });
    assert.deepEqual(first, { id: 'my-vlm', type: 'chat', vision: true, tools: true, contextLength: 4096 });
    const second = parseModels({
      models: [
        {
          type: 'llm',
          key: 'google/gemma-3-4b',
          display_name: 'Gemma 3 4B',
          capabilities: { vision: true, trained_for_tool_use: false },
        },
      ],
    });
    assert.deepEqual(second, [{ id: 'google/gemma-3-4b', label: 'Gemma 3 4B', type: 'chat', vision: true }]);
  });

  test('xAI: language models', () => {
    const body = { models: [{ id: 'grok-9', input_modalities: ['text'], output_modalities: ['text'] }] };
    assert.deepEqual(parseModels(body), [{ id: 'grok-9', type: 'chat', tools: true, reasoning: true }]);
  });

  test('a catalog in the way of GitHub', () => {
    const model = parseOne({
      id: 'openai/gpt-4.1',
      name: 'OpenAI GPT-4.1',
      tags: ['multipurpose', 'multilingual'],
      capabilities: ['streaming', 'tool-calling'],
      limits: { max_input_tokens: 1048576, max_output_tokens: 32768 },
      supported_input_modalities: ['text', 'image', 'audio'],
      supported_output_modalities: ['text'],
    });
    assert.deepEqual(model, {
      id: 'openai/gpt-4.1',
      label: 'OpenAI GPT-4.1',
      type: 'chat',
      vision: true,
      audio: true,
      tools: true,
      contextLength: 1048576,
      tags: ['multipurpose', 'multilingual'],
    });
  });

  test('Cloudflare: names instead of ids, figures as text', () => {
    const body = {
      success: true,
      result: [
        {
          id: '41975cc2-c82e-4e98-b7b8-88ffb186a545',
          name: '@cf/someone/a-model',
          task: { id: 'c329', name: 'Text Generation' },
          properties: [{ property_id: 'context_window', value: '131072' }],
        },
        { id: 'x', name: '@cf/someone/hears', task: { name: 'Automatic Speech Recognition' } },
      ],
    };
    assert.deepEqual(parseModels(body), [
      { id: '@cf/someone/a-model', type: 'chat', contextLength: 131072 },
      { id: '@cf/someone/hears', type: 'transcription', audio: true },
    ]);
  });

  test('Hugging Face: what any host of a model can', () => {
    const model = parseOne({
      id: 'org/Model-7B',
      architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
      providers: [
        { provider: 'a', status: 'live', supports_tools: false },
        { provider: 'b', status: 'live', context_length: 65536, supports_tools: true },
        { provider: 'c', status: 'live', supports_tools: false },
      ],
    });
    assert.deepEqual(model, { id: 'org/Model-7B', type: 'chat', vision: true, tools: true, contextLength: 65536 });
  });

  test('Fireworks and Moonshot: booleans of their own', () => {
    assert.deepEqual(
      parseOne({
        id: 'a',
        supports_chat: true,
        supports_image_input: true,
        supports_tools: true,
        context_length: 4096,
      }),
      { id: 'a', vision: true, tools: true, contextLength: 4096 },
    );
    assert.deepEqual(parseOne({ id: 'b', supports_image_in: true, supports_reasoning: true }), {
      id: 'b',
      vision: true,
      reasoning: true,
    });
    assert.deepEqual(parseModels([{ id: 'c', supports_chat: false }]), []);
  });
});

describe('parseModels: what it does not trust', () => {
  test('anything but a listing gives no models', () => {
    const bodies = [
      undefined,
      null,
      1,
      'text',
      true,
      {},
      { data: 'x' },
      { data: { id: 'a' } },
      { error: { message: 'no' } },
      [],
    ];
    for (const body of bodies) assert.deepEqual(parseModels(body), []);
  });

  test('hostile names are skipped, the others stay', () => {
    const hostile = [
      '',
      ' ',
      ' padded ',
      'line\nbreak',
      'nul\0',
      'del\x7f',
      'c1\x85',
      'bidi\u202eevil',
      'zero\u200bwidth',
      'para\u2029',
      'half\ud800',
      'x'.repeat(257),
      7,
      null,
      {},
      [],
      true,
    ];
    const data = [...hostile.map((id) => ({ id })), null, 'plain', 5, [], { object: 'model' }, { id: 'x'.repeat(256) }];
    assert.deepEqual(
      parseModels({ data }).map((model) => model.id),
      ['plain', 'x'.repeat(256)],
    );
  });

  test('a name that only an object would trip over is a name', () => {
    const ids = ['__proto__', 'constructor', 'toString'];
    const models = parseModels({ data: ids.map((id) => ({ id, type: 'constructor' })) });
    assert.deepEqual(
      models,
      ids.map((id) => ({ id })),
    );
  });

  test('the first of equal names stays', () => {
    const models = parseModels({ data: [{ id: 'a', context_length: 1 }, { id: 'b' }, { id: 'a', context_length: 2 }] });
    assert.deepEqual(models, [{ id: 'a', contextLength: 1 }, { id: 'b' }]);
  });

  test('ten thousand are enough', () => {
    const models = parseModels(Array.from({ length: 12_000 }, (_, index) => ({ id: `model-${index}` })));
    assert.equal(models.length, 10_000);
    assert.equal(models.at(-1)?.id, 'model-9999');
  });

  test('fields of a wrong kind are ignored', () => {
    const model = parseOne({
      id: 'a',
      display_name: 'evil\u202e',
      title: 5,
      context_length: -1,
      context_window: 1.5,
      max_model_len: '4096',
      architecture: 'text->text',
      supported_parameters: 'tools',
      capabilities: 'vision',
      tags: ['fine', 'e\nvil', 7],
      providers: [null, 'x'],
      properties: 'x',
      supports_tools: 'yes',
      type: { evil: true },
      task: 'chat',
    });
    assert.deepEqual(model, { id: 'a', contextLength: 4096, tags: ['fine'] });
  });
});
