import { isObject } from '../../core/objects.ts';

/** Members whose value is the client's own: names in there mean something to a tool, a schema or us. */
const OPAQUE: ReadonlySet<string> = new Set([
  'args',
  'response',
  'parameters',
  'parametersJsonSchema',
  'responseSchema',
  'responseJsonSchema',
  'labels',
  'apiKey',
  'conversation',
  'providerOptions',
]);

const SNAKE = /^[a-z][a-z0-9]*(_[a-z0-9]+)+$/;

/**
 * The same JSON with every name of the protocol in camelCase: Google's API takes `inline_data` and `inlineData` alike
 * (https://protobuf.dev/programming-guides/json/). Where both are there, the camelCase one counts.
 */
export function toCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toCamelCase);
  if (!isObject(value)) return value;
  const camel = new Map<string, unknown>();
  for (const [name, member] of Object.entries(value)) {
    const own = camelName(name);
    if (own !== name && Object.hasOwn(value, own)) continue;
    camel.set(own, OPAQUE.has(own) ? member : toCamelCase(member));
  }
  return Object.fromEntries(camel);
}

/** `snake_case` → `snakeCase`; any other name stays as it is. */
export function camelName(name: string): string {
  return SNAKE.test(name) ? name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) : name;
}
