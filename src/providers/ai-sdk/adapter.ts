import { createHash } from 'node:crypto';
import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { Limits, ProviderConfig } from '../../config/config.ts';
import type { Call, Credentials } from '../../core/call.ts';
import type { ChatRequest } from '../../core/chat.ts';
import type { Batch } from '../../core/chunk.ts';
import { SluiceError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { Model } from '../../core/model.ts';
import type { Provider } from '../../core/provider.ts';
import { noteRateLimits } from '../../outbound/rate-limits.ts';
import type { UpstreamClient } from '../../outbound/upstream.ts';
import { aboutOf, keyFor, keyNeed } from '../about.ts';
import { hasMedia, leavesChoice, lostErrors, lostNames, saysNothing } from '../lost.ts';
import { capabilitiesOf } from '../openai/capabilities.ts';
import { withTakenToolNames } from '../tool-names.ts';
import { type Answering, answeringOf } from './answering.ts';
import { Translator } from './chunks.ts';
import type { Connection, Reached, Settings } from './connection.ts';
import { type EmbeddingSpec, embeddingOf } from './embedding.ts';
import { askingFailure, type Speaker, thrownFailure } from './failure.ts';
import { type EventKinds, JoinedTexts } from './joined-texts.ts';
import { type NativeApi, nativeOf } from './native.ts';
import { toCallOptions } from './options.ts';
import { toPrompt } from './prompt.ts';
import { SignedThoughts } from './thoughts.ts';
import { vendorFetch, withKeyIn } from './vendor-fetch.ts';

/** What a vendor's file says about it. */
export interface VendorSpec {
  /** Where the configuration names no address. Without a trailing slash. */
  baseUrl(settings: Settings): string;
  /** The models to offer where the vendor cannot be asked. */
  models?(settings: Settings): readonly Model[];
  /** Asks the vendor for its models. */
  listModels?(connection: Connection, signal: AbortSignal): Promise<readonly Model[]>;
  /** Loads the vendor's library, on first use, and connects it. */
  open(connection: Connection): Promise<(model: string) => LanguageModelV4>;
  /** What the vendor's library wants to know beyond the common options. */
  options?(request: ChatRequest): SharedV4ProviderOptions;
  /** An effort in a word that a model knows, where its library does not see to that; undefined: the model is asked for none. */
  effort?(word: string, model: string): string | undefined;
  /** The fields of `ChatRequest.extra` that `options` has a use for; others are reported as dropped. */
  readonly takes?: readonly string[];
  /** What the events of its streams are: those that say a piece of text cost less then. */
  readonly events?: EventKinds;
  /** A request as the vendor takes it; `drop` hears of what that loses. Asked for whatever is not `native`. */
  taken?(request: ChatRequest, drop: (field: string) => void): ChatRequest;
  /** What else of a request has no place there, beyond what the vendor's library warns of. */
  lost?(request: ChatRequest): readonly string[];
  /** Its models that turn texts into vectors. */
  readonly embeddings?: EmbeddingSpec;
  /** Its own API, for clients that speak it: the library would not keep all that they say. */
  readonly native?: NativeApi;
  /** Its key is a Bearer token, unless the upstream wants it in another header: the configuration's `apiKeyHeader` counts. */
  readonly hasBearer?: boolean;
  /** Settings that together take the place of a key. They are never shown. */
  readonly secretSettings?: readonly string[];
  /** Names that models may have, where the library puts them into addresses as they are. */
  readonly modelName?: RegExp;
  /** Names of tools that it takes. Absent: letters, digits, `_` and `-`, at most 64 of them. */
  readonly toolName?: RegExp;
}

/** What all vendors share. Limits are asked for with every answer: they may change while Sluice runs. */
export interface VendorDeps {
  readonly client: UpstreamClient;
  readonly limits: () => Pick<Limits, 'answerBytes' | 'sseLineBytes'>;
  readonly log: Logger;
}

/** Libraries give a tool of this name to a model that knows no schemas for its answer. */
const ANSWER_TOOL = 'json';

/** A provider through one of the AI SDK's vendor libraries, driven by `LanguageModelV4.doStream`. */
export function fromAiSdk(spec: VendorSpec): (config: ProviderConfig, deps: VendorDeps) => Provider {
  return (config, deps) => {
    const thoughts = new SignedThoughts();
    const native = spec.native?.isFor?.(config) === false ? undefined : spec.native;

    function speaker(apiKey: string): Speaker {
      const secrets = (spec.secretSettings ?? []).map((name) => config.settings[name] ?? '');
      return { label: config.label, secrets: [apiKey, ...secrets] };
    }

    function connect(apiKey: string, names: 'same' | 'other', texts?: JoinedTexts): Connection {
      const fetch = vendorFetch(deps.client, { ...speaker(apiKey), names }, texts);
      const isElsewhere = spec.hasBearer === true && config.keyHeader !== 'authorization';
      return {
        baseUrl: config.baseUrl ?? spec.baseUrl(config.settings),
        apiKey,
        headers: { ...config.headers },
        settings: config.settings,
        fetch: isElsewhere ? withKeyIn(config.keyHeader, apiKey, fetch) : fetch,
      };
    }

    function reaching(names: 'same' | 'other'): (call: Call) => Reached {
      return ({ credentials }) => {
        const apiKey = keyOf(spec, config, credentials);
        return {
          connection: connect(apiKey, names),
          who: speaker(apiKey),
          nameOf: (model) => modelName(spec, config, model),
        };
      };
    }

    async function* answer(asked: Asked, call: Call): AsyncGenerator<Batch, undefined> {
      const { stop } = asked;
      const apiKey = keyOf(spec, config, call.credentials);
      const who = speaker(apiKey);
      const forget = call.onCancel((reason) => stop.abort(reason));
      let answering: Answering | undefined;
      try {
        answering = await begin(apiKey, taken(asked), call, who, stop.signal);
        for (;;) {
          const step = await answering.next();
          if (step === undefined) throw new SluiceError('upstream_cut', `${config.label} broke off its answer.`);
          const { batch, failure } = step;
          asked.isFinished = answering.finished;
          if (failure === undefined || batch.length > 0) yield batch;
          if (failure !== undefined) throw failure;
          if (asked.isFinished) return undefined;
        }
      } catch (thrown) {
        if (!stop.signal.aborted) throw thrownFailure(who, thrown);
        if (call.cancelled !== undefined) throw call.cancelled;
        return undefined;
      } finally {
        forget();
        if (!asked.isFinished) {
          answering?.close();
          // A library that failed on its own leaves its connection open.
          stop.abort();
        }
      }
    }

    /** Asks the vendor, and resolves with the head of its answer. */
    async function begin(
      apiKey: string,
      asked: ChatRequest,
      call: Call,
      who: Speaker,
      signal: AbortSignal,
    ): Promise<Answering> {
      const named = { ...asked, model: modelName(spec, config, asked.model) };
      const drop = (field: string): void => call.drop(field);
      if (native !== undefined && named.format === native.format) {
        const { answering, headers } = await native.open(named, connect(apiKey, 'same'), {
          speaker: who,
          drop,
          signal,
          eventBytes: deps.limits().sseLineBytes,
        });
        noteRateLimits(call, headers);
        return answering;
      }
      const reserved = named.responseFormat?.type === 'json_schema' ? ANSWER_TOOL : undefined;
      const { request, ownName } = withTakenToolNames(spec.taken?.(named, drop) ?? named, spec.toolName, reserved);
      const owner = createHash('sha256').update(apiKey).digest('base64url');
      for (const field of lostIn(request, spec)) drop(field);
      const texts = spec.events === undefined ? undefined : new JoinedTexts(spec.events, deps.limits().sseLineBytes);
      const model = (await spec.open(connect(apiKey, 'other', texts)))(request.model);
      const prompt = toPrompt(request.messages, {
        label: config.label,
        supportedUrls: await model.supportedUrls,
        recall: (callId) => thoughts.recall(`${owner} ${callId}`),
      });
      const options = toCallOptions(withEffort(spec, request), prompt, spec.options?.(request) ?? {}, signal);
      const { stream, response } = await Promise.resolve(model.doStream(options)).catch((thrown: unknown) => {
        throw askingFailure(who, thrown);
      });
      noteRateLimits(call, response?.headers ?? {});
      const translator = new Translator({
        speaker: who,
        log: call.log,
        apart: (text) => texts?.apart(text) ?? [text],
        ownName,
        remember: (callId, thought) => thoughts.remember(`${owner} ${callId}`, thought),
        drop: (field) => {
          if (!leavesChoice(field, request)) drop(field);
        },
      });
      return answeringOf(stream, translator);
    }

    return {
      ...aboutOf(config, keyNeed(config, config.apiKey !== undefined || hasSettings(spec, config))),

      async models(credentials, signal) {
        const known = spec.models?.(config.settings) ?? [];
        if (config.models !== undefined) {
          return config.models.map((id) => known.find((model) => model.id === id) ?? { id, ...capabilitiesOf(id) });
        }
        if (spec.listModels === undefined) return known;
        const apiKey = keyOf(spec, config, credentials);
        try {
          return await spec.listModels(connect(apiKey, 'other'), signal);
        } catch (thrown) {
          if (signal.aborted) throw signal.reason;
          const failure = thrownFailure(speaker(apiKey), thrown);
          // A listing that is not there says nothing about a model.
          if (failure.code !== 'model_not_found') throw failure;
          throw new SluiceError('upstream_failed', `${config.label} has no listing of models.`, { cause: failure });
        }
      },

      ...embeddingOf(spec.embeddings, reaching('other')),
      ...nativeOf(native, deps, reaching('same')),

      chat(request, call) {
        const asked: Asked = { request, stop: new AbortController(), isFinished: false };
        const batches = answer(asked, call);
        const close = batches.return.bind(batches);
        return Object.assign(batches, {
          return(value: undefined) {
            // A generator's own return() waits for the step under way, which may wait for the network. Of a finished answer only
            // the end of its body may still come, and then the connection serves again.
            if (!asked.isFinished) asked.stop.abort();
            return close(value);
          },
        });
      },
    } satisfies Provider;
  };
}

/** The fields of a request that the library has no place for. */
function lostIn(request: ChatRequest, spec: VendorSpec): readonly string[] {
  const extra = Object.entries(request.extra).filter(
    ([field, value]) => !saysNothing(field, value) && field !== 'providerOptions' && !spec.takes?.includes(field),
  );
  return [
    ...extra.map(([field]) => field),
    ...lostNames(request),
    ...lostErrors(request, hasMedia),
    ...(spec.lost?.(request) ?? []),
  ];
}

function withEffort(spec: VendorSpec, request: ChatRequest): ChatRequest {
  const { reasoningEffort: word, ...sampling } = request.sampling;
  if (word === undefined || spec.effort === undefined) return request;
  const effort = spec.effort(word, request.model);
  return { ...request, sampling: { ...sampling, ...(effort === undefined ? {} : { reasoningEffort: effort }) } };
}

/** What is asked for. */
interface Asked {
  /** Until it is on its way: a generator holds what it was given for as long as it runs. */
  request: ChatRequest | undefined;
  readonly stop: AbortController;
  /** Whether all of the answer was said. */
  isFinished: boolean;
}

function taken(asked: Asked): ChatRequest {
  const { request } = asked;
  if (request === undefined) throw new Error('an answer is asked for once');
  asked.request = undefined;
  return request;
}

function keyOf(spec: VendorSpec, config: ProviderConfig, credentials: Credentials): string {
  return keyFor(config, credentials, config.needsKey && !hasSettings(spec, config));
}

function hasSettings(spec: VendorSpec, config: ProviderConfig): boolean {
  const [first, second] = spec.secretSettings ?? [];
  return first !== undefined && second !== undefined && !!config.settings[first] && !!config.settings[second];
}

/** Letters, digits and `. _ : @ + -`, in segments that do not lead elsewhere. */
const MODEL_NAME = /^[A-Za-z0-9][\w.:@+-]*(\/[A-Za-z0-9][\w.:@+-]*)*$/;
const LONGEST_MODEL_NAME = 512;

function modelName(spec: VendorSpec, config: ProviderConfig, asked: string): string {
  const name = asked === '' ? (config.defaultModel ?? '') : asked;
  if (name.length <= LONGEST_MODEL_NAME && (spec.modelName ?? MODEL_NAME).test(name)) return name;
  throw new SluiceError('model_not_found', `${config.label} has no model of that name.`, { param: 'model' });
}
