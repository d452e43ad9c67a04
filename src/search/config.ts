import { KEY_FORM, parseBaseUrl, parseKey, SERVER_FORM } from '../config/text-forms.ts';

/** The engines, in the order in which one is chosen when the configuration names none. */
export const SEARCH_ENGINES = ['searxng', 'tavily', 'brave', 'exa', 'wikipedia'] as const;
/** The `engine` of the section `search` in sluice.yaml, which may also say `none`. */
export type SearchEngineId = (typeof SEARCH_ENGINES)[number];

/** The section `search` of sluice.yaml. */
export interface SearchSection {
  /** `none` switches web search off. */
  readonly engine?: SearchEngineId | 'none';
  /** Address of a SearXNG server, or of another Wikipedia than the English one. */
  readonly url?: string;
  readonly apiKey?: string;
  /** Results to ask for. */
  readonly results?: number;
  /** How many of them are fetched and read; the others count with their snippet. */
  readonly pages?: number;
  /** Words of all results together that a model gets. */
  readonly words?: number;
}

/** An engine, where it is, and what it needs. */
export interface SearchTarget {
  readonly engine: SearchEngineId;
  /** Absolute, without a trailing slash. */
  readonly url: string;
  readonly apiKey?: string;
}

/** The section as the rest of the program sees it. */
export interface SearchConfig {
  /** Tried in order. Empty: web search is off. */
  readonly targets: readonly SearchTarget[];
  readonly results: number;
  readonly pages: number;
  readonly words: number;
}

/** Where the section says nothing. */
export const defaultSearch: Omit<SearchConfig, 'targets'> = { results: 5, pages: 3, words: 1_500 };

const URLS: Readonly<Record<SearchEngineId, string | undefined>> = {
  searxng: undefined,
  tavily: 'https://api.tavily.com',
  brave: 'https://api.search.brave.com',
  exa: 'https://api.exa.ai',
  wikipedia: 'https://en.wikipedia.org',
};

/** Variables that switch an engine on, or give the key of the one that the file names. */
export const SEARCH_VARIABLES: Readonly<Partial<Record<SearchEngineId, string>>> = {
  searxng: 'SEARXNG_URL',
  tavily: 'TAVILY_API_KEY',
  brave: 'BRAVE_API_KEY',
  exa: 'EXA_API_KEY',
};

/** What such a variable may hold. */
function formOf(engine: SearchEngineId): readonly [parse: (text: string) => string | undefined, form: string] {
  return engine === 'searxng' ? [parseBaseUrl, SERVER_FORM] : [parseKey, KEY_FORM];
}

/** A setting that makes no sense, and why. */
export interface SearchProblem {
  readonly key: keyof SearchSection;
  readonly message: string;
}

/**
 * Which engines are asked. The file decides; else the first variable that is set; else Tavily without a key (it limits
 * the rate) and, should that fail, Wikipedia. What somebody configured is never followed by an engine nobody named.
 */
export function resolveSearch(
  section: SearchSection,
  environment: Readonly<Record<string, string | undefined>>,
): {
  readonly config: SearchConfig;
  readonly problems: readonly SearchProblem[];
  /** Variables that switch nothing on, and why; one sentence each. */
  readonly notes: readonly string[];
} {
  const problems: SearchProblem[] = [];
  const notes: string[] = [];
  const { results, pages, words } = { ...defaultSearch, ...section };
  const config = (targets: readonly SearchTarget[]) => ({
    config: { targets, results, pages, words },
    problems,
    notes,
  });
  const variable = (engine: SearchEngineId): string | undefined =>
    environment[SEARCH_VARIABLES[engine] ?? '']?.trim() || undefined;
  /** With what the variable says. Who meant one engine is not given another, so there is none where that is wrong. */
  const byVariable = (engine: SearchEngineId, url?: string) => {
    const text = variable(engine);
    const [parse, form] = formOf(engine);
    const value = text === undefined ? undefined : parse(text);
    if (value !== undefined || text === undefined) return config(targetOf(engine, url, value));
    notes.push(
      `web search is off: the environment variable ${SEARCH_VARIABLES[engine]} holds something else than ${form}`,
    );
    return config([]);
  };
  const engine = section.engine ?? (section.url === undefined ? undefined : 'searxng');

  if (engine === 'none') return config([]);
  if (engine === undefined) {
    if (section.apiKey !== undefined) problems.push({ key: 'apiKey', message: 'needs `engine`: whose key is it?' });
    const named = SEARCH_ENGINES.find((each) => variable(each) !== undefined);
    if (named !== undefined) return byVariable(named);
    return config([...targetOf('tavily', undefined, undefined), ...targetOf('wikipedia', undefined, undefined)]);
  }
  const given = variable(engine);
  if (engine === 'searxng' && section.url === undefined && given === undefined) {
    problems.push({ key: 'url', message: 'is needed: the address of the SearXNG server' });
    return config([]);
  }
  if ((engine === 'brave' || engine === 'exa') && section.apiKey === undefined && given === undefined) {
    problems.push({ key: 'apiKey', message: `is needed, here or as ${SEARCH_VARIABLES[engine]} in the environment` });
    return config([]);
  }
  const isGiven = engine === 'searxng' ? section.url !== undefined : section.apiKey !== undefined;
  return isGiven ? config(targetOf(engine, section.url, section.apiKey)) : byVariable(engine, section.url);
}

/** `value` is what the engine's variable or `apiKey` says: an address for SearXNG, a key for the others. */
function targetOf(engine: SearchEngineId, url: string | undefined, value: string | undefined): readonly SearchTarget[] {
  const address = url ?? (engine === 'searxng' ? value : URLS[engine]);
  if (address === undefined) return [];
  const apiKey = engine === 'searxng' || engine === 'wikipedia' ? undefined : value;
  return [{ engine, url: address.replace(/(?<!\/)\/+$/, ''), ...(apiKey === undefined ? {} : { apiKey }) }];
}
