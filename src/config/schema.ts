// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the descriptions speak of placeholders in the file

import { z } from 'zod';
import { ACCESS_LOGS, defaultObserve, REQUEST_LOGS } from '../observe/config.ts';
import { defaultSearch, SEARCH_ENGINES } from '../search/config.ts';
import { BIND_FORMS, parseBind } from './bind.ts';
import type { Limits } from './config.ts';
import { defaultBind, defaultEmbedded, defaultLimits, defaultLogLevel, defaultTrustedProxies } from './defaults.ts';
import { CHOICES, LOG_LEVELS, PROVIDER_KINDS } from './kinds.ts';
import { allowedFor, limitRules } from './limit-rules.ts';
import {
  BASE_URL_FORM,
  DATABASE_FORM,
  HEADER_NAME_FORM,
  HEADER_VALUE_FORM,
  HOST_FORM,
  KEY_FORM,
  ORIGIN_FORM,
  PROXIES_FORM,
  parseBaseUrl,
  parseDatabase,
  parseHeaderName,
  parseHeaderValue,
  parseHost,
  parseKey,
  parseOrigin,
  parseProxies,
  SERVER_FORM,
} from './text-forms.ts';
import { MOST_WORKERS, parseWorkers, WORKERS_FORM } from './workers.ts';

// In this file the message of every check says what is allowed; `check.ts` puts the path and what was given before it.
// For an unknown key it is the list of the known ones.

/** A map with known keys only. */
function section<Shape extends z.core.$ZodLooseShape>(what: string, shape: Shape) {
  const keys = Object.keys(shape).join(', ');
  return z.strictObject(shape, { error: (issue) => (issue.code === 'unrecognized_keys' ? keys : what) });
}

/** A text with a form of its own. */
function textOf<T>(allowed: string, parse: (text: string) => T | undefined) {
  return z.string({ error: allowed }).transform((text, context): T => {
    const value = parse(text);
    if (value !== undefined) return value;
    context.issues.push({ code: 'custom', message: allowed, input: text });
    return z.NEVER;
  });
}

function text(allowed: string) {
  return z.string({ error: allowed }).regex(/\S/, { error: allowed });
}

function listOf<Item extends z.ZodType>(allowed: string, item: Item) {
  return z.array(item, { error: allowed });
}

const flag = () => z.boolean({ error: 'true or false' });

function wholeNumber(least: number, most: number, allowed = `a whole number from ${least} to ${most}`) {
  return z.int({ error: allowed }).min(least, { error: allowed }).max(most, { error: allowed });
}

/** What an id of a provider may be, in words. */
const PROVIDER_ID_FORM = 'up to 64 lower case letters, digits, ".", "_" and "-", the first a letter or digit';
const PROVIDER_ID = /^[a-z0-9][a-z0-9._-]{0,63}$/;

const modelName = text('the name of a model');

const WEIGHT_FORM = 'a number from 0 to 1000000';
const weightSchema = z
  .number({ error: WEIGHT_FORM })
  .min(0, { error: WEIGHT_FORM })
  .max(1_000_000, { error: WEIGHT_FORM });
const choiceSchema = z.enum(CHOICES, { error: CHOICES.join(', ') });

const providerSchema = section('a map of settings', {
  kind: z
    .enum(PROVIDER_KINDS, { error: PROVIDER_KINDS.join(', ') })
    .optional()
    .describe(
      'Which wire format the upstream speaks; openai: the chat completions of any OpenAI-compatible upstream; openai-responses: its Responses API. Not needed for a known provider.',
    ),
  label: text('a name for people').optional().describe('The name shown to people. Default: the id.'),
  baseUrl: textOf(BASE_URL_FORM, parseBaseUrl)
    .optional()
    .describe('Address of the upstream, to which /chat/completions is added. Not needed for a known provider.'),
  apiKey: textOf(KEY_FORM, parseKey)
    .optional()
    .describe('Key for the upstream, best written as ${NAME}. A known provider takes it from its own variable.'),
  apiKeys: listOf('a list of keys', textOf(KEY_FORM, parseKey))
    .min(1, { error: 'at least one key' })
    .max(100, { error: 'at most 100 keys' })
    .optional()
    .describe('Several keys that take turns, instead of apiKey; one that is refused or limited rests for a while.'),
  weight: weightSchema
    .optional()
    .meta({ default: 1 })
    .describe('Its share of the requests where routing.choice is weighted; 0: only when nothing else is left.'),
  apiKeyHeader: textOf(HEADER_NAME_FORM, parseHeaderName)
    .optional()
    .describe('Header that carries the key. Default: authorization, as a Bearer token.'),
  auth: z
    .enum(['key', 'cookies'], { error: 'key, cookies' })
    .optional()
    .meta({ default: 'key' })
    .describe('How the upstream knows its user; cookies: by the cookies of cookieDomain that were uploaded.'),
  cookieDomain: textOf(HOST_FORM, parseHost)
    .optional()
    .describe('With auth: cookies, the domain whose cookies are sent. Default: the host of baseUrl.'),
  models: listOf('a list of names of models', modelName)
    .min(1, { error: 'at least one model; without this key the upstream is asked' })
    .optional()
    .describe('The models to offer. Left out: the upstream is asked.'),
  defaultModel: modelName.optional().describe('Used when a request names this provider but no model.'),
  headers: z
    .record(textOf(HEADER_NAME_FORM, parseHeaderName), textOf(HEADER_VALUE_FORM, parseHeaderValue), {
      error: 'a map of header names and texts',
    })
    .optional()
    .describe('Headers sent with every request to the upstream.'),
  enabled: flag()
    .optional()
    .meta({ default: true })
    .describe('false switches the provider off, also when the environment or detection would switch it on.'),
  hostedTools: flag()
    .optional()
    .describe(
      "true: the upstream's Responses API runs tools of its own, and gets what clients of that API ask for as they wrote it. Default: true for OpenAI, Azure and xAI.",
    ),
  settings: z
    .record(z.string(), text('a text'), { error: 'a map of names and texts' })
    .optional()
    .describe(
      'Further settings of the vendor, for example region of Bedrock, a ${VARIABLE} of a known address, or quotaPath, where the upstream tells what is left of the account.',
    ),
});

/** One entry of `providers`. */
export type ProviderEntry = z.output<typeof providerSchema>;

// An entry without anything in it switches a known provider on.
const entrySchema = providerSchema.nullable().transform((entry): ProviderEntry => entry ?? {});

const providersSchema = z.record(z.string().regex(PROVIDER_ID, { error: PROVIDER_ID_FORM }), entrySchema, {
  error: 'a map of ids and settings',
});

/** Those entries of a wrong `providers` section that are right by themselves. */
export function validProviders(section: unknown): Record<string, ProviderEntry> {
  const entries = Object.entries(typeof section === 'object' && section !== null ? section : {});
  return Object.fromEntries(
    entries.flatMap(([id, value]) => {
      const entry = providersSchema.safeParse({ [id]: value });
      return entry.success ? Object.entries(entry.data) : [];
    }),
  );
}

const embeddedSchema = section('a map of settings', {
  enabled: flag()
    .optional()
    .meta({ default: defaultEmbedded.enabled })
    .describe('Whether the model and the voice that come with Sluice, and the models of modelsDir, are served.'),
  modelsDir: text('a path')
    .optional()
    .describe('Folder whose *.gguf files are served too. Relative to this file. Default: models in dataDir.'),
  parallel: wholeNumber(1, 64)
    .optional()
    .meta({ default: defaultEmbedded.parallel })
    .describe('Requests answered at the same time; further ones wait.'),
  threads: wholeNumber(1, 1_024)
    .optional()
    .describe('Threads for inference. Default: one less than the machine has cores, at least one.'),
});

const searchSchema = section('a map of settings', {
  engine: z
    .enum([...SEARCH_ENGINES, 'none'], { error: [...SEARCH_ENGINES, 'none'].join(', ') })
    .optional()
    .describe('Who searches; none: nobody. Default: whoever has a key in the environment, else Tavily without one.'),
  url: textOf(SERVER_FORM, parseBaseUrl)
    .optional()
    .describe('Address of a SearXNG server, or of another Wikipedia than the English one.'),
  apiKey: textOf(KEY_FORM, parseKey).optional().describe('Key of the engine, best written as ${NAME}.'),
  results: wholeNumber(1, 20).optional().meta({ default: defaultSearch.results }).describe('Results to ask for.'),
  pages: wholeNumber(0, 10)
    .optional()
    .meta({ default: defaultSearch.pages })
    .describe('How many of them are fetched and read; the others count with their snippet.'),
  words: wholeNumber(100, 20_000)
    .optional()
    .meta({ default: defaultSearch.words })
    .describe('Words of all results together that a model gets.'),
});

const observeSchema = section('a map of settings', {
  requestLog: z
    .enum(REQUEST_LOGS, { error: REQUEST_LOGS.join(', ') })
    .optional()
    .meta({ default: defaultObserve.requestLog })
    .describe('What the request log keeps: nothing, everything but content, or prompts and answers too.'),
  requestLogEntries: wholeNumber(1, 100_000)
    .optional()
    .meta({ default: defaultObserve.requestLogEntries })
    .describe('Requests that are kept.'),
  requestLogBytes: wholeNumber(1_024, 2 ** 30)
    .optional()
    .meta({ default: defaultObserve.requestLogBytes })
    .describe('Bytes of prompts and answers that are kept together, with requestLog: full.'),
  accessLog: z
    .enum(ACCESS_LOGS, { error: ACCESS_LOGS.join(', ') })
    .optional()
    .meta({ default: defaultObserve.accessLog })
    .describe('Which finished requests get a line in the log.'),
  otelEndpoint: textOf(SERVER_FORM, parseBaseUrl)
    .optional()
    .describe('Address of an OpenTelemetry collector; OTEL_EXPORTER_OTLP_ENDPOINT beats it.'),
  otelPropagate: flag()
    .optional()
    .meta({ default: false })
    .describe('Whether upstreams are told to which trace a request belongs.'),
});

type LimitsShape = { [Name in keyof Limits]: z.ZodOptional<z.ZodInt> };

function limitsShape(): LimitsShape {
  const names = Object.keys(limitRules) as (keyof Limits)[];
  const fields = names.map((name) => {
    const rule = limitRules[name];
    const schema = wholeNumber(rule.least, rule.most, allowedFor(rule)).optional();
    const unit = rule.unit === 'count' ? '' : ` In ${rule.unit}.`;
    return [name, schema.meta({ default: defaultLimits[name] }).describe(`${rule.about}${unit}`)] as const;
  });
  return Object.fromEntries(fields) as LimitsShape;
}

const TARGET_FORM = 'a model or provider/model, or a list of them, or a map with choice and models';

const routingSchema = section('a map of settings', {
  choice: choiceSchema
    .optional()
    .meta({ default: 'order' })
    .describe(
      'Which of several providers of a model answers first: order, those that need no key before the others, and both ' +
        'as in this file; weighted, by their weight; latency, ' +
        'whoever begins soonest. With the last two, requests of one session stay together.',
    ),
});

/** Models that are equals. */
const groupSchema = section('a map of settings', {
  choice: choiceSchema.optional().meta({ default: 'weighted' }).describe('How one of the models is chosen.'),
  models: listOf(
    'a list of models, each a name or a map of model and weight',
    z.union(
      [
        text('a model or provider/model'),
        section('a map of settings', {
          model: text('a model or provider/model'),
          weight: weightSchema.optional(),
        }),
      ],
      { error: 'a model or provider/model, or a map of model and weight' },
    ),
  )
    .min(1, { error: 'at least one model' })
    .describe('The models, with their weights where they differ.'),
});

/** `sluice.yaml`, after `${NAME}` was replaced. */
export const fileSchema = section('a map of settings', {
  bind: z
    .union(
      [
        textOf(BIND_FORMS, parseBind),
        z
          .int()
          .min(0)
          .max(65_535)
          .transform((port) => ({ ...defaultBind, port })),
      ],
      {
        error: BIND_FORMS,
      },
    )
    .optional()
    .describe(
      `Where to listen: ${BIND_FORMS}. Default: ${defaultBind.host}:${defaultBind.port}. ` +
        'Beyond loopback, clients are asked for a key.',
    ),
  dataDir: text('a path')
    .optional()
    .describe('Folder for everything Sluice stores. Relative to this file. Default: the per-user data folder.'),
  database: textOf(DATABASE_FORM, parseDatabase)
    .optional()
    .describe('Database on a PostgreSQL server, for several nodes; files stay in dataDir. Default: SQLite in dataDir.'),
  logLevel: z
    .enum(LOG_LEVELS, { error: LOG_LEVELS.join(', ') })
    .optional()
    .meta({ default: defaultLogLevel })
    .describe('The least important lines that are logged.'),
  workers: z
    .union([z.literal('auto').transform(() => parseWorkers('auto') ?? 1), wholeNumber(1, MOST_WORKERS, WORKERS_FORM)], {
      error: WORKERS_FORM,
    })
    .optional()
    .meta({ default: 1 })
    .describe('Processes that serve the one port; auto: as many as there are cores.'),
  key: textOf(`${KEY_FORM}, or none`, parseKey)
    .optional()
    .describe('Access key that every client must show. none: nobody is asked, also beyond loopback.'),
  allowedHosts: listOf('a list of host names', textOf(HOST_FORM, parseHost))
    .optional()
    .describe('Host names beside the loopback ones under which Sluice may be addressed.'),
  allowedOrigins: listOf('a list of origins', textOf(ORIGIN_FORM, parseOrigin))
    .optional()
    .describe('Origins beside the loopback ones whose pages may call Sluice.'),
  trustedProxies: listOf('a list of addresses', textOf(PROXIES_FORM, parseProxies))
    .optional()
    .meta({ default: [...defaultTrustedProxies] })
    .describe('Reverse proxies that are believed when they say on whose behalf they ask (X-Forwarded-For).'),
  defaultProvider: textOf(PROVIDER_ID_FORM, (id) => (PROVIDER_ID.test(id) ? id : undefined))
    .optional()
    .describe('Answers requests that name no provider.'),
  defaultModel: modelName
    .optional()
    .describe('For requests that name neither model nor provider: a model, an alias or provider/model.'),
  detectLocal: flag()
    .optional()
    .meta({ default: true })
    .describe('Whether to look for local servers (Ollama, LM Studio, …) on their usual loopback ports.'),
  embedded: embeddedSchema.optional().describe('The model that runs inside Sluice.'),
  providers: providersSchema
    .optional()
    .describe('Upstreams by id, in order of preference. An id that Sluice knows needs neither kind nor baseUrl.'),
  aliases: z
    .record(
      text('a name').max(200, { error: 'a name of up to 200 characters' }),
      z.union([text(TARGET_FORM), listOf(TARGET_FORM, text(TARGET_FORM)).min(1), groupSchema], { error: TARGET_FORM }),
      { error: `a map of names, each with ${TARGET_FORM}` },
    )
    .optional()
    .describe('Other names that clients can ask for, each with the models it stands for, tried in order.'),
  routing: routingSchema.optional().describe('How requests find their way where there is more than one.'),
  search: searchSchema.optional().describe('Web search, for requests that ask for it.'),
  observe: observeSchema.optional().describe('What is written down of requests, and who is told.'),
  limits: section('a map of limits', limitsShape()).optional().describe('Times, sizes and counts.'),
});

/** What sluice.yaml says, checked and normalised. */
export type FileSettings = z.output<typeof fileSchema>;
