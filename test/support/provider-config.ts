import type { ProviderConfig } from '../../src/config/config.ts';

/** A provider's configuration for tests, as if written in the file with a key. */
export function providerConfig(fields: Partial<ProviderConfig> & Pick<ProviderConfig, 'kind'>): ProviderConfig {
  return {
    id: fields.kind,
    label: fields.kind,
    origin: 'file',
    apiKey: 'key-of-the-test',
    needsKey: true,
    keyHeader: 'authorization',
    headers: {},
    settings: {},
    ...fields,
  };
}
