import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadYaml, temporaryFolder } from '../../test/support/config-folder.ts';
import { secretsIn, secretsOf } from './secrets.ts';

test('headers and settings whose names speak of a secret are secrets, others are not', async (context) => {
  const config = await loadYaml(
    temporaryFolder(context),
    `providers:
  a:
    kind: openai
    baseUrl: http://127.0.0.1:1/v1
    headers:
      X-Password: in-password
      x-auth: in-auth
      x-client-credential: in-credential
      X-Signature: in-signature
      x-session: in-session
      CF-Access-Client-Secret: in-secret
      x-team: not-a-secret
    settings: { adminPassphrase: in-passphrase, tier: not-a-secret }
`,
  );
  assert.deepEqual(
    new Set(secretsOf(config)),
    new Set(
      ['password', 'auth', 'credential', 'signature', 'session', 'secret', 'passphrase'].map((each) => `in-${each}`),
    ),
  );
});

test('every key is a secret, wherever the configuration has one', async (context) => {
  const config = await loadYaml(
    temporaryFolder(context),
    `key: of-sluice
database: postgres://me:of%2Fdatabase@127.0.0.1:1/x
providers:
  a: { kind: openai, baseUrl: 'http://127.0.0.1:1/v1', apiKey: of-a }
  b: { kind: openai, baseUrl: 'http://127.0.0.1:1/v1', apiKeys: [first-of-b, second-of-b] }
search: { engine: tavily, apiKey: of-search }
observe: { otelEndpoint: 'http://127.0.0.1:1' }
`,
    { environment: { OTEL_EXPORTER_OTLP_HEADERS: 'team=of-collector' } },
  );
  const keys = [
    'of-sluice',
    'of%2Fdatabase',
    'of/database',
    'of-a',
    'first-of-b',
    'second-of-b',
    'of-search',
    'of-collector',
  ];
  assert.deepEqual(new Set(secretsOf(config)), new Set(keys));
});

test('keys in the environment are secrets, whoever reads them', () => {
  const secrets = {
    SLUICE_KEY: 'of-sluice',
    SLUICE_DATABASE: 'postgres://me:of-database@host/x',
    GROQ_API_KEY: 'of-groq',
    FAL_API_KEY: 'of-fal',
    TAVILY_API_KEY: 'of-tavily',
    EXA_API_KEY: 'of-exa',
    OTEL_EXPORTER_OTLP_HEADERS: 'a=of-collector',
  };
  const others = { SLUICE_BIND: ':1', AWS_REGION: 'x', SEARXNG_URL: 'http://h', OTEL_SERVICE_NAME: 'n', TOKEN: 't' };
  assert.deepEqual(new Set(secretsIn({ ...secrets, ...others })), new Set(Object.values(secrets)));
});
