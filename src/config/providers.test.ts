// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of the file, not of JavaScript
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadYaml, temporaryFolder } from '../../test/support/config-folder.ts';
import { upstreams } from '../providers/openai/upstreams.ts';
import { loadConfig } from './load.ts';

async function fromEnvironment(context: test.TestContext, environment: Record<string, string>) {
  return await loadConfig({ environment, directory: temporaryFolder(context) });
}

describe('a key in the environment', () => {
  test('switches its provider on', async (context) => {
    const { config, notes } = await fromEnvironment(context, {
      GROQ_API_KEY: ' groq-key\n',
      ANTHROPIC_API_KEY: 'anthropic-key',
    });
    assert.deepEqual(notes, []);
    assert.deepEqual(
      config.providers.map(({ id, kind, origin, apiKey, keyVariable, keyHeader, needsKey, baseUrl }) => {
        return [id, kind, origin, apiKey, keyVariable, keyHeader, needsKey, baseUrl];
      }),
      [
        [
          'anthropic',
          'anthropic',
          'environment',
          'anthropic-key',
          'ANTHROPIC_API_KEY',
          'x-api-key',
          true,
          'https://api.anthropic.com/v1',
        ],
        ['groq', 'openai', 'environment', 'groq-key', 'GROQ_API_KEY', 'authorization', true, upstreams.groq.baseUrl],
      ],
    );
  });

  test('every row with a key of its own has one', async (context) => {
    const variables = Object.values(upstreams).flatMap((row) => ('key' in row ? [row.key] : []));
    const environment = Object.fromEntries(variables.map((name) => [name, 'a-key']));
    const others = { AZURE_OPENAI_RESOURCE_NAME: 'resource', CLOUDFLARE_ACCOUNT_ID: 'account' };
    const { config } = await fromEnvironment(context, { ...environment, ...others });
    const on = new Set(config.providers.map((provider) => provider.id));
    for (const [id, row] of Object.entries(upstreams)) {
      const activation = 'activation' in row ? row.activation : 'key';
      assert.equal(on.has(id), activation === 'key', id);
    }
    for (const provider of config.providers) assert.doesNotMatch(JSON.stringify(provider), /\$\{/);
    assert.equal(
      config.providers.find(({ id }) => id === 'azure')?.baseUrl,
      'https://resource.openai.azure.com/openai/v1',
    );
  });

  test('Gemini goes by three names, the first wins', async (context) => {
    const keyOf = async (environment: Record<string, string>) => {
      const [gemini] = (await fromEnvironment(context, environment)).config.providers;
      return [gemini?.id, gemini?.kind, gemini?.apiKey, gemini?.keyVariable];
    };
    assert.deepEqual(await keyOf({ GOOGLE_API_KEY: 'c' }), ['gemini', 'google', 'c', 'GOOGLE_API_KEY']);
    assert.deepEqual(await keyOf({ GOOGLE_GENERATIVE_AI_API_KEY: 'b', GOOGLE_API_KEY: 'c' }), [
      ...['gemini', 'google', 'b', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    ]);
    assert.deepEqual(await keyOf({ GEMINI_API_KEY: 'a', GOOGLE_API_KEY: 'c' }), [
      'gemini',
      'google',
      'a',
      'GEMINI_API_KEY',
    ]);
  });

  test('Bedrock has a region', async (context) => {
    const regionOf = async (environment: Record<string, string>) => {
      const [bedrock] = (await fromEnvironment(context, { AWS_BEARER_TOKEN_BEDROCK: 'k', ...environment })).config
        .providers;
      return bedrock?.settings;
    };
    assert.deepEqual(await regionOf({}), { region: 'us-east-1' });
    assert.deepEqual(await regionOf({ AWS_DEFAULT_REGION: 'eu-west-1' }), { region: 'eu-west-1' });
    assert.deepEqual(await regionOf({ AWS_REGION: 'eu-central-1', AWS_DEFAULT_REGION: 'x' }), {
      region: 'eu-central-1',
    });
  });

  test('that switches nothing on is explained', async (context) => {
    const { config, notes } = await fromEnvironment(context, {
      AZURE_OPENAI_API_KEY: 'k',
      GROQ_API_KEY: 'two words',
      OPENAI_API_KEY: '',
    });
    assert.deepEqual(config.providers, []);
    assert.deepEqual(notes, [
      'groq is off: the environment variable GROQ_API_KEY holds something else than a text of visible ASCII characters without blanks',
      'azure is off although AZURE_OPENAI_API_KEY is set: the environment variable AZURE_OPENAI_RESOURCE_NAME is not set; set it, or settings.AZURE_OPENAI_RESOURCE_NAME of this provider',
    ]);
  });
});

describe('the file', () => {
  const load = async (context: test.TestContext, yaml: string, environment = {}) => {
    return await loadYaml(temporaryFolder(context), yaml, { environment });
  };

  test('wins over the environment, entry by entry and setting by setting, and comes first', async (context) => {
    const yaml = 'providers:\n  groq: {baseUrl: "http://127.0.0.1:9/x/", label: Mine}\n  openai: {apiKey: from-file}\n';
    const environment = { GROQ_API_KEY: 'g', OPENAI_API_KEY: 'o', XAI_API_KEY: 'x' };
    const { providers } = await load(context, yaml, environment);
    assert.deepEqual(
      providers.map(({ id, origin, label, baseUrl, apiKey }) => [id, origin, label, baseUrl, apiKey]),
      [
        ['groq', 'file', 'Mine', 'http://127.0.0.1:9/x', 'g'],
        ['openai', 'file', 'OpenAI', upstreams.openai.baseUrl, 'from-file'],
        ['xai', 'environment', 'xAI', upstreams.xai.baseUrl, 'x'],
      ],
    );
  });

  test('switches a known provider off', async (context) => {
    const config = await load(context, 'providers: {openai: {enabled: false}, ollama: {enabled: false}}\n', {
      OPENAI_API_KEY: 'k',
    });
    assert.deepEqual(config.providers, []);
    assert.deepEqual(config.disabled, ['openai', 'ollama']);
  });

  test('needs only the id of a known provider, also without anything below it', async (context) => {
    const { providers } = await load(context, 'providers:\n  ollama:\n  deepseek: {}\n');
    assert.deepEqual(
      providers.map(({ id, kind, origin, needsKey, apiKey, keyVariable }) => [
        id,
        kind,
        origin,
        needsKey,
        apiKey,
        keyVariable,
      ]),
      [
        ['ollama', 'openai', 'file', false, undefined, undefined],
        ['deepseek', 'openai', 'file', true, undefined, 'DEEPSEEK_API_KEY'],
      ],
    );
  });

  test('another upstream of a vendor has the ways of the vendor, but not its key', async (context) => {
    const yaml =
      'providers: {proxy: {kind: anthropic, baseUrl: "http://127.0.0.1:9"}, openai: {kind: google, apiKey: k}}\n';
    const environment = { ANTHROPIC_API_KEY: 'secret', OPENAI_API_KEY: 'secret' };
    const { providers } = await load(context, yaml, environment);
    assert.deepEqual(
      providers
        .slice(0, 2)
        .map(({ id, kind, label, keyHeader, baseUrl, apiKey }) => [id, kind, label, keyHeader, baseUrl, apiKey]),
      [
        ['proxy', 'anthropic', 'proxy', 'x-api-key', 'http://127.0.0.1:9', undefined],
        ['openai', 'google', 'openai', 'x-goog-api-key', 'https://generativelanguage.googleapis.com/v1beta', 'k'],
      ],
    );
  });

  test('sets headers, key header, models and settings', async (context) => {
    const yaml = `
providers:
  mock:
    kind: openai
    baseUrl: http://127.0.0.1:9/v1
    apiKeyHeader: X-Key
    headers: {X-Title: "Sluice \${VERSION}"}
    models: [a, b/c]
    defaultModel: a
  azure: {apiKey: k, settings: {AZURE_OPENAI_RESOURCE_NAME: mine}}
  bedrock: {apiKey: k, settings: {region: eu-north-1}}
`;
    const { providers } = await load(context, yaml, { VERSION: '1', AWS_REGION: 'x' });
    const [mock, azure, bedrock] = providers;
    assert.equal(mock?.keyHeader, 'x-key');
    assert.deepEqual(mock?.headers, { 'x-title': 'Sluice 1' });
    assert.deepEqual(mock?.models, ['a', 'b/c']);
    assert.equal(mock?.defaultModel, 'a');
    assert.equal(mock?.needsKey, false);
    assert.equal(azure?.baseUrl, 'https://mine.openai.azure.com/openai/v1');
    assert.deepEqual(bedrock?.settings, { region: 'eu-north-1' });
  });
});
