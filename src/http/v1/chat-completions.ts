import type { FastifyRequest } from 'fastify';
import type { Call } from '../../core/call.ts';
import type { ChatRequest } from '../../core/chat.ts';
import type { Batch } from '../../core/chunk.ts';
import { collect, within } from '../../core/collect.ts';
import { isNoMedia } from '../../core/data-uri.ts';
import { editPieces } from '../../core/json.ts';
import { detach } from '../../core/pieces.ts';
import { isUploadId, uploadIn } from '../../core/upload-address.ts';
import { estimatePrompt } from '../../core/usage.ts';
import { OWN_MEDIA } from '../../enrich/buckets.ts';
import { keptName } from '../../enrich/kept-media.ts';
import { nearestEffort } from '../../providers/openai/efforts.ts';
import type { RelayRequest } from '../../routing/relayed.ts';
import type { Answered, Question } from '../../routing/router.ts';
import type { Target } from '../../routing/select.ts';
import { answerHeaders, sendingChunks, sendingRelayed, sendWhole, withCall } from '../answer.ts';
import { freeformNames } from '../chat-tools.ts';
import type { Deps, Handler } from '../deps.ts';
import type { JsonBody, OutlinedChat } from '../edge/json-body.ts';
import { answerIn, limitNames } from '../field-names.ts';
import { clientKeys } from '../keys.ts';
import { hasOlderForm } from '../older-calls.ts';
import { quickCheck } from '../quick-check.ts';
import { asksForSchema, tellLostParts, toChatFields, toEffort, toMessages, toWebSearch } from '../to-chat.ts';
import { hasSearch, toolSteps } from '../tool-calls.ts';
import { memoryOf } from '../user.ts';
import { limitMessages, validate } from '../validate.ts';
import { ChatFields, DROPPED_FIELDS, type WireMessage, type WirePart } from '../wire.ts';
import { wishOf } from '../wish.ts';
import { CompletionStream, completionHead, encodeCompletion, encodeStreamError } from './encode.ts';
import { mergeChoices } from './merge.ts';
import { messagesOf } from './messages.ts';
import { ChatCompletionBody, OWN_FIELDS } from './wire.ts';

/** `POST /v1/chat/completions`, and the same under `/api/<provider>/…`. */
export function chatCompletions(deps: Deps): Handler {
  return (request, reply) => {
    const json = request.body as JsonBody;
    const most = deps.config().limits.messages;
    const read = readOutline(json, most) ?? readWhole(json, most);
    const { body } = read;
    const question = toQuestion(request, json, read, deps);
    const { user, timeout, strict } = body;
    const session = sessionOf(request, body);
    return withCall(request, reply, deps, { user, timeout, strict, session }, async (call) => {
      const answered = await answerIn(limitNames(body), deps, question, call);
      const headers = answerHeaders(answered, answered.value.headers);
      const { value } = answered;
      // No other target will be asked.
      if (value.isSent) detach(json.held);
      switch (value.kind) {
        case 'stream':
          return sendingRelayed(reply, value, encodeStreamError, headers, deps, call);
        case 'body':
          sendWhole(reply, value.pieces, headers, () => value.release());
          return undefined;
        case 'chunks':
          break;
      }
      const head = completionHead(answered.target.provider.id, answered.target.model, {
        hasOlderCalls: hasOlderForm(body),
        freeform: freeformNames((extraOf(body) as Partial<ChatCompletionBody>).tools ?? body.tools),
      });
      const choices = [value.chunks, ...(await furtherChoices(body.n ?? 1, question, answered, deps, call))];
      if (body.stream !== true) {
        const { answerBytes } = deps.config().limits;
        const answers = await Promise.all(choices.map((each) => collect(within(each, answerBytes))));
        sendWhole(reply, [Buffer.from(JSON.stringify(encodeCompletion(head, answers, wantsJson(body))))], headers);
        return undefined;
      }
      const wantsUsage = body.stream_options?.include_usage === true;
      const [only] = choices;
      if (choices.length === 1 && only !== undefined) {
        return sendingChunks(reply, only, new CompletionStream(head, { wantsUsage }), headers, deps, call);
      }
      const { chunks, encoder } = mergeChoices(choices, head, wantsUsage);
      return sendingChunks(reply, chunks, encoder, headers, deps, call);
    });
  };
}

/** Providers whose libraries answer once per call are asked again for every further choice. */
async function furtherChoices(
  n: number,
  question: Question,
  answered: Answered,
  deps: Deps,
  call: Parameters<typeof deps.router.answer>[1],
): Promise<AsyncIterable<Batch>[]> {
  const { relay: _, ...asked } = question;
  const again: Question = { ...asked, only: answered.target };
  const further = await Promise.all(Array.from({ length: n - 1 }, () => deps.router.answer(again, call)));
  return further.flatMap(({ value }) => (value.kind === 'chunks' ? [value.chunks] : []));
}

/** A request as far as it was read. */
interface Read extends Pick<OutlinedChat, 'pieces' | 'members' | 'missingBytes'> {
  readonly body: ChatCompletionBody;
  /** All of it, for whoever cannot do with the beginnings of texts. */
  whole(): ChatCompletionBody;
}

function readWhole(json: JsonBody, most: number): Read {
  limitMessages(json.value, 'messages', most, 'invalid_field');
  const body = validate(ChatCompletionBody, json.value, 'invalid_field');
  return { body, pieces: [json.bytes], members: json.members, missingBytes: 0, whole: () => body };
}

/** A long request of which only the outline is read, if it can be passed on as it is. Undefined: anything is unusual. */
function readOutline(json: JsonBody, most: number): Read | undefined {
  const { outlined } = json;
  if (outlined === undefined || !quickCheck(ChatCompletionBody)(outlined.value)) return undefined;
  const body = outlined.value as ChatCompletionBody;
  if (body.messages.length > most || !canRelay(body) || messagesOf(body) !== body.messages) return undefined;
  return { ...outlined, body, whole: () => readWhole(json, most).body };
}

function toQuestion(request: FastifyRequest, json: JsonBody, read: Read, deps: Deps): Question {
  const { body } = read;
  const wish = wishOf(body, request);
  const messages = messagesOf(body);
  const meant = body.extra_body == null ? body : { ...body, ...extraOf(body) };
  const { tools, tool_choice, functions, function_call, response_format } = meant;
  const steps = [
    ...toolSteps(body.tool_calls, 'invalid_field', deps.search),
    tellLostParts({ tools, tool_choice, functions, function_call, response_format, messages }, 'invalid_field'),
  ];
  const stream = body.stream === true;
  const wholeMessages = () => {
    const whole = read.whole();
    return whole === body ? messages : messagesOf(whole);
  };
  return {
    wish,
    keys: clientKeys(request, body.api_key),
    steps,
    dropped: droppedOf(read),
    idleMs: body.stream_timeout == null ? undefined : body.stream_timeout * 1_000,
    request: () => toChatRequest(json, read.whole(), wholeMessages(), wish),
    relay: canRelay(body) ? (target, call) => toRelay(target, read, messages, wholeMessages, stream, call) : undefined,
  };
}

/** What keeps requests of one conversation together where targets take turns. */
function sessionOf(request: FastifyRequest, body: ChatCompletionBody): string | undefined {
  const { conversation_id: ofPath } = request.params as { conversation_id?: string };
  const ofCache = body['prompt_cache_key'];
  return ofPath ?? body.conversation_id ?? (typeof ofCache === 'string' ? ofCache : undefined);
}

/** Whether the bytes can go to an upstream as they are, with a few members replaced. */
function canRelay(body: ChatCompletionBody): boolean {
  if (toWebSearch(body.web_search).webSearch !== undefined || hasSearch(body.tool_calls)) return false;
  if (wantsMemory(body) || body.download_media === true) return false;
  return !body.messages.some(
    ({ content }) =>
      Array.isArray(content) && content.some((part) => 'bucket_id' in part || !('type' in part) || isReadHere(part)),
  );
}

interface MediaOfPart {
  readonly image_url?: string | { readonly url?: unknown };
  readonly video_url?: string | { readonly url?: unknown };
  readonly file?: { readonly file_id?: unknown };
}

/** An image or a file that only we can read, or nobody: the upstream would ask its own machine for it. */
function isReadHere(part: WirePart): boolean {
  const { image_url: image, video_url: video, file } = part as MediaOfPart;
  if (isUploadId(file?.file_id)) return true;
  const shown = image ?? video;
  const url = typeof shown === 'object' ? shown.url : shown;
  if (typeof url !== 'string') return false;
  if (isNoMedia(url)) return true;
  return OWN_MEDIA.test(url) || keptName(url) !== undefined || uploadIn(url) !== undefined;
}

function wantsMemory(body: ChatCompletionBody): boolean {
  return body.memory === true && typeof body.user === 'string';
}

const DROPPED: ReadonlySet<string> = new Set(DROPPED_FIELDS);
/** Members of a body that no upstream sees. */
const REMOVED_FIELDS: ReadonlySet<string> = new Set([...OWN_FIELDS, ...DROPPED_FIELDS]);

/** Members of a body that `extra_body` does not replace: what was read and decided of them counts, here and upstream. */
const KEPT_FIELDS: ReadonlySet<string> = new Set(
  [...Object.keys(ChatCompletionBody.shape), ...REMOVED_FIELDS].filter((name) => !Object.hasOwn(ChatFields, name)),
);

/** Fields of a body that go nowhere. */
function droppedOf({ members, body: { extra_body: extra } }: Read): readonly string[] {
  const dropped = members.map(({ name }) => name).filter((name) => name !== 'extra_body' && DROPPED.has(name));
  if (extra == null) return dropped;
  const kept = Object.keys(extra).filter((name) => KEPT_FIELDS.has(name));
  return [...dropped, ...kept.map((name) => `extra_body.${name}`)];
}

/** What of `extra_body` goes upstream. */
function extraOf({ extra_body: extra }: ChatCompletionBody): Record<string, unknown> {
  if (extra == null) return {};
  return Object.fromEntries(Object.entries(extra).filter(([name]) => !KEPT_FIELDS.has(name)));
}

function toRelay(
  target: Target,
  { pieces, members, missingBytes, body }: Read,
  messages: readonly WireMessage[],
  wholeMessages: () => readonly WireMessage[],
  stream: boolean,
  call: Call,
): RelayRequest | undefined {
  const { relay } = target.provider;
  if (relay?.takesNoSchemas === true && asksForSchema(body.response_format)) return undefined;
  const edits = new Map<string, string | undefined>();
  for (const { name } of members) if (REMOVED_FIELDS.has(name)) edits.set(name, undefined);
  const inItsWords = (effort: unknown): unknown =>
    typeof effort === 'string' ? nearestEffort(toEffort(effort), target.model) : effort;
  const effort = inItsWords(body.reasoning_effort);
  if (effort !== body.reasoning_effort) edits.set('reasoning_effort', JSON.stringify(effort));
  for (const [name, value] of Object.entries(extraOf(body)))
    edits.set(name, JSON.stringify(name === 'reasoning_effort' ? inItsWords(value) : value));
  if (body.model !== target.model) edits.set('model', JSON.stringify(target.model));
  const taken = relay?.taken;
  const drop = (field: string): void => call.drop(field);
  if (taken !== undefined && messages.some((message) => taken(message, target.model, drop) !== message))
    edits.set('messages', JSON.stringify(wholeMessages().map((message) => taken(message, target.model, drop))));
  else if (messages !== body.messages) edits.set('messages', JSON.stringify(messages));
  // Usage is recorded whether or not the client wants to see it.
  if (relay?.countsUnasked === true) edits.set('stream_options', undefined);
  else if (stream) edits.set('stream_options', JSON.stringify({ ...body.stream_options, include_usage: true }));
  return {
    endpoint: '/chat/completions',
    body: editPieces(pieces, members, edits),
    stream,
    wantsUsage: body.stream_options?.include_usage === true,
    choices: body.n ?? 1,
    wantsJson: wantsJson(body),
    promptTokens: estimatePrompt(messages, textBytes) + (missingBytes >> 2),
  };
}

/** Whole answers that shall be JSON are, whatever a model writes around it. */
function wantsJson({ response_format: format }: ChatCompletionBody): boolean {
  return format?.['type'] === 'json_object';
}

function textBytes({ content }: WireMessage): number {
  if (typeof content === 'string') return Buffer.byteLength(content);
  let bytes = 0;
  for (const part of content ?? [])
    if ('text' in part && typeof part.text === 'string') bytes += Buffer.byteLength(part.text);
  return bytes;
}

/** Understood here, so not for a provider to guess at. `user` is passed on: vendors ask for it too. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set(
  [...Object.keys(ChatCompletionBody.shape), ...OWN_FIELDS, ...DROPPED_FIELDS].filter((name) => name !== 'user'),
);

function toChatRequest(
  json: JsonBody,
  body: ChatCompletionBody,
  messages: readonly WireMessage[],
  wish: Question['wish'],
): ChatRequest {
  const more = extraOf(body);
  const extra = Object.entries({ ...json.value, ...more }).filter(([name]) => !KNOWN_FIELDS.has(name));
  return {
    ...wish,
    messages: toMessages(messages),
    ...toChatFields({ ...body, ...more }),
    ...(body.conversation == null ? {} : { conversation: body.conversation }),
    ...(hasSearch(body.tool_calls) ? {} : toWebSearch(body.web_search)),
    downloadMedia: body.download_media === true,
    ...memoryOf(body.memory, body.user),
    extra: Object.fromEntries(extra),
  };
}
