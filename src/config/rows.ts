import { type Upstream, upstreams } from '../providers/openai/upstreams.ts';
import type { ProviderKind } from './kinds.ts';
import { type Vendor, vendors } from './vendors.ts';

/** What Sluice knows about a provider by itself: rows of upstreams and vendors, in one shape. */
export interface Row {
  readonly id: string;
  readonly kind: ProviderKind;
  readonly label: string;
  /** May hold `${VARIABLE}`. */
  readonly baseUrl?: string;
  /** The environment variables that may hold the key, in order of preference. */
  readonly keys: readonly string[];
  readonly keyHeader: string;
  readonly needsKey: boolean;
  readonly activation: 'key' | 'configured' | 'local';
  readonly headers: Readonly<Record<string, string>>;
  readonly models?: readonly string[];
  readonly defaultModel?: string;
  readonly url?: string;
  readonly loginUrl?: string;
  /** Path of the listing of models, where it is an unusual one. May hold `${VARIABLE}`. */
  readonly modelsPath?: string;
  readonly settings: NonNullable<Vendor['settings']>;
  readonly pricedAs?: string;
  readonly otelName?: string;
}

function rowOfUpstream(id: string, upstream: Upstream): Row {
  const { key, keyHeader, needsKey, activation, headers, tasks, images, quotaPath, ports: _, ...same } = upstream;
  return {
    ...same,
    id,
    kind: 'openai',
    keys: key === undefined ? [] : [key],
    keyHeader: keyHeader ?? 'authorization',
    needsKey: needsKey ?? true,
    activation: activation ?? 'key',
    headers: headers ?? {},
    settings: { ...setting('tasks', tasks), ...setting('images', images), ...setting('quotaPath', quotaPath) },
  };
}

function setting(name: string, otherwise: string | undefined): Row['settings'] {
  return otherwise === undefined ? {} : { [name]: { variables: [], otherwise } };
}

function rowOfVendor(id: string, { quotaPath, settings, ...vendor }: Vendor): Row {
  const all = { ...settings, ...setting('quotaPath', quotaPath) };
  return { needsKey: true, activation: 'key', ...vendor, id, headers: {}, settings: all };
}

/** All rows by id, in the order in which keys of the environment switch them on. */
export const rows: ReadonlyMap<string, Row> = new Map([
  ...Object.entries(vendors).map(([id, vendor]) => [id, rowOfVendor(id, vendor)] as const),
  ...Object.entries(upstreams).map(([id, upstream]) => [id, rowOfUpstream(id, upstream)] as const),
]);
