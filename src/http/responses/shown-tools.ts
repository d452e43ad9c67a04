import { isObject } from '../../core/objects.ts';

/** Tools as clients get them back: without what MCP servers are shown to let us in, of which OpenAI tells the names only. */
export function shownTools(tools: readonly unknown[]): readonly unknown[] {
  return tools.map((tool) => {
    if (!isObject(tool) || tool['type'] !== 'mcp') return tool;
    const { authorization, headers, ...rest } = tool;
    return {
      ...rest,
      ...(authorization == null ? {} : { authorization: REDACTED }),
      ...(isObject(headers)
        ? { headers: Object.fromEntries(Object.keys(headers).map((name) => [name, REDACTED])) }
        : {}),
    };
  });
}

const REDACTED = '<redacted>';
