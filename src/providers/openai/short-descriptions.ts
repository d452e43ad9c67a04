import { isObject, membersOf, wordsOf } from '../../core/objects.ts';

type Json = Record<string, unknown>;

const DESCRIPTION = /^tools\[\d+\]\.function\.description$/;
const MAXIMUM = /\bmaximum length (\d+)\b/;

/** How long descriptions of tools may be, where an upstream's error says that one is too long: OpenAI's `string_above_max_length`. */
export function longestDescription({ code, param, message }: Json): number | undefined {
  if (code !== 'string_above_max_length' || !DESCRIPTION.test(wordsOf(param))) return undefined;
  const most = Number(MAXIMUM.exec(wordsOf(message))?.[1] ?? 0);
  return most > 0 ? most : undefined;
}

/** The tools of a body with the beginnings of descriptions that are too long; undefined where there is none of these. */
export function withShortDescriptions(tools: unknown, most: number): unknown[] | undefined {
  if (!Array.isArray(tools) || !tools.some((tool) => isTooLong(tool, most))) return undefined;
  return tools.map((tool) => (isTooLong(tool, most) ? shortened(tool, most) : tool));
}

function isTooLong(tool: unknown, most: number): tool is { function: { description: string } } {
  const { description } = membersOf(membersOf(tool)['function']);
  return isObject(tool) && typeof description === 'string' && description.length > most;
}

/** Counted in UTF-16 units, of which a text has at least as many as characters. */
function shortened(tool: { function: { description: string } }, most: number): Json {
  const { description } = tool.function;
  // No half of a character that is two units.
  const beginning = description.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '');
  return { ...tool, function: { ...tool.function, description: `${beginning}…` } };
}
