import { startGeminiUpstream } from '../../support/gemini-upstream.ts';
import { elements, member } from '../../support/vendor-server.ts';
import type { Arrived, MatrixUpstream, Turn } from '../vocabulary.ts';
import { asksFor, given, isWanted, joined } from './reading.ts';

/** Google's Gemini API. */
export const gemini: MatrixUpstream = {
  title: 'Gemini',
  provider: 'gemini',
  kind: 'google',
  model: 'gemini-2.5-flash',
  start: startGeminiUpstream,
  read,
  cannot: {
    oneCall: 'the API cannot keep a model from several calls at once',
    detail: 'the API has a resolution for all pictures of a request only',
  },
  signature: (callId) => `sig-${callId}`,
  signsCalls: true,
  tasks: {
    image: 'gemini-2.5-flash-image',
    speech: 'gemini-2.5-flash-preview-tts',
    transcribe: 'gemini-2.5-flash',
    embed: 'gemini-embedding-001',
  },
  cannotDo: {},
  untold: {
    speech: { stream: 'the API sends all that is said at once' },
    embed: { usage: 'the API counts no tokens of embeddings' },
  },
  lostByTask: {
    image: { quality: 'models that draw as they talk know no qualities' },
    embed: { user: 'the API does not ask who its users are' },
  },
};

const CHOICES: Readonly<Record<string, string>> = { ANY: 'required', AUTO: 'auto', NONE: 'none' };

function read(body: unknown): Arrived {
  const turns = elements(member(body, 'contents')).map((content): Turn => {
    const parts = elements(member(content, 'parts'));
    const said = parts.filter((part) => member(part, 'thought') !== true);
    const text = joined(said.map((part) => member(part, 'text')));
    if (member(content, 'role') === 'model') {
      const thoughts = joined(parts.filter((part) => !said.includes(part)).map((part) => member(part, 'text')));
      const signature = parts.map((part) => member(part, 'thoughtSignature')).find((each) => each !== undefined);
      return {
        role: 'assistant',
        text,
        calls: parts.flatMap((part) => {
          const call = member(part, 'functionCall');
          return call === undefined ? [] : [{ name: String(member(call, 'name')), input: member(call, 'args') }];
        }),
        ...(thoughts === '' ? {} : { thoughts }),
        ...(signature === undefined ? {} : { signature: String(signature) }),
      };
    }
    const results = parts.flatMap((part) => {
      const result = member(part, 'functionResponse');
      if (result === undefined) return [];
      return [{ name: String(member(result, 'name')), text: joined(Object.values(member(result, 'response') ?? {})) }];
    });
    if (results.length > 0) return { role: 'results', results: results.map(withoutName) };
    const images = parts.map((part) => member(part, 'inlineData', 'data')).filter((data) => data !== undefined);
    return { role: 'user', text, images: images.map(String) };
  });
  const config = member(body, 'generationConfig');
  const mode = member(body, 'toolConfig', 'functionCallingConfig', 'mode');
  const isJson = member(config, 'responseMimeType') === 'application/json';
  const schema = member(config, 'responseSchema') ?? member(config, 'responseJsonSchema');
  return {
    system: joined(elements(member(body, 'systemInstruction', 'parts')).map((part) => member(part, 'text'))),
    turns,
    tools: elements(member(body, 'tools'))
      .flatMap((tool) => elements(member(tool, 'functionDeclarations')))
      .map((tool) => ({
        name: String(member(tool, 'name')),
        parameters: member(tool, 'parameters') ?? member(tool, 'parametersJsonSchema'),
      })),
    options: given({
      temperature: member(config, 'temperature'),
      topK: member(config, 'topK'),
      maxTokens: member(config, 'maxOutputTokens'),
      stop: member(config, 'stopSequences'),
      seed: member(config, 'seed'),
      toolChoice: mode === undefined ? undefined : (CHOICES[String(mode)] ?? mode),
      schema: isWanted(isJson && asksFor(schema)),
      anyJson: isWanted(isJson && schema === undefined),
      // How much a model of this series thinks is not asked by words.
      effort: isWanted(member(config, 'thinkingConfig') !== undefined),
    }),
  };
}

/** Google's library also writes the tool's name into the response. */
function withoutName(result: { readonly name: string; readonly text: string }): { name: string; text: string } {
  return { ...result, text: result.text.startsWith(result.name) ? result.text.slice(result.name.length) : result.text };
}
