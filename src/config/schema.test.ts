import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { loadYaml, temporaryFolder } from '../../test/support/config-folder.ts';
import { upstreams } from '../providers/openai/upstreams.ts';
import type { Limits } from './config.ts';
import { defaultLimits } from './defaults.ts';
import { OWN_VARIABLES } from './flags.ts';
import { configJsonSchema } from './json-schema.ts';
import { LOG_LEVELS, PROVIDER_KINDS } from './kinds.ts';
import { limitRules } from './limit-rules.ts';
import { rows } from './rows.ts';
import { vendors } from './vendors.ts';

const repository = new URL('../../', import.meta.url);

interface Schema {
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
}

describe('the published schema', () => {
  const schema = JSON.parse(configJsonSchema()) as Schema;

  test('is up to date', () => {
    const published = readFileSync(new URL('sluice.schema.json', repository), 'utf8');
    assert.equal(published, configJsonSchema(), 'run: npm run schema');
  });

  test('describes every key and refuses all others', () => {
    let keys = 0;
    const visit = (node: Schema, path: string): void => {
      for (const [name, member] of Object.entries(node.properties ?? {})) {
        keys += 1;
        assert.ok((member.description ?? '').length > 10, `${path}.${name} has no description`);
        visit(member, `${path}.${name}`);
      }
      if (node.properties !== undefined) assert.equal(node.additionalProperties, false, path);
      if (typeof node.additionalProperties === 'object') visit(node.additionalProperties, `${path}.*`);
      for (const form of node.anyOf ?? []) visit(form, path);
    };
    visit(schema, '');
    assert.ok(keys > 50, `only ${keys} keys were seen`);
  });

  test('knows every limit with its default', () => {
    const limits = schema.properties?.['limits']?.properties ?? {};
    const defaults = Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, limit.default]));
    assert.deepEqual(defaults, defaultLimits);
  });
});

test('every default is within its own bounds', () => {
  for (const [name, rule] of Object.entries(limitRules)) {
    const value = defaultLimits[name as keyof Limits];
    assert.ok(value >= rule.least && value <= rule.most, name);
  }
});

test('the guide names every key and variable, and every limit with its default', () => {
  const guide = readFileSync(new URL('docs/configuration.md', repository), 'utf8');
  const { properties = {} } = JSON.parse(configJsonSchema()) as Schema;
  const entry = properties['providers']?.additionalProperties;
  const forms = typeof entry === 'object' ? (entry.anyOf ?? []) : [];
  const inProviders = forms.flatMap((form) => Object.keys(form.properties ?? {}));
  assert.ok(inProviders.length > 8);
  const inEmbedded = Object.keys(properties['embedded']?.properties ?? {});
  for (const key of [...Object.keys(properties), ...inProviders, ...inEmbedded, ...OWN_VARIABLES]) {
    assert.ok(guide.includes(`\`${key}\``), `docs/configuration.md lacks ${key}`);
  }
  for (const [name, value] of Object.entries(defaultLimits)) {
    assert.match(
      guide,
      new RegExp(`\\| \`${name}\` \\| ${value} \\|`),
      `docs/configuration.md lacks ${name} = ${value}`,
    );
  }
  for (const word of [...LOG_LEVELS, ...PROVIDER_KINDS]) {
    assert.ok(guide.includes(`\`${word}\``), `docs/configuration.md lacks ${word}`);
  }
});

test('every example of the guide is valid', async (context) => {
  const guide = readFileSync(new URL('docs/configuration.md', repository), 'utf8');
  const examples = [...guide.matchAll(/```yaml\n(.*?)```/gs)].map((match) => match[1] ?? '');
  assert.ok(examples.length >= 3);
  for (const example of examples) {
    const environment = { MOCK_KEY: 'k', AZURE_KEY: 'k', WORK_KEY: 'k' };
    await loadYaml(temporaryFolder(context), example, { environment });
  }
});

test('a known provider is one row, of a vendor or of an upstream', () => {
  assert.deepEqual(
    Object.keys(vendors).filter((id) => Object.hasOwn(upstreams, id)),
    [],
  );
});

test('every variable of the guide switches its provider on', () => {
  const guide = readFileSync(new URL('docs/configuration.md', repository), 'utf8');
  const lines = [...guide.matchAll(/^\| (`[A-Z_]+`.*) \| `([a-z]+)` \|$/gm)];
  assert.ok(lines.length >= 8);
  for (const [, variables = '', id = ''] of lines) {
    const [first] = /[A-Z_]+/.exec(variables) ?? [];
    assert.equal(rows.get(id)?.keys[0], first, id);
  }
});
