import type { Tool } from '../../core/chat.ts';
import { isFunction, type Note, own, type ToolChange, toolChange } from './blocks.ts';
import type { WireMessage, WireTool } from './wire.ts';

/** A tool of Anthropic's own is kept whole, and marked by its `kind`: nobody else can call it. */
export function toTool(tool: WireTool, note: Note): Tool {
  if (!isFunction(tool)) {
    note(`tools.${tool.type}`);
    return { name: String(tool.name ?? tool.type), vendor: { anthropic: { tool, kind: tool.type } } };
  }
  const { type: _, name, description, input_schema: parameters, strict, cache_control: mark, ...further } = tool;
  const { vendor } = own(mark, further, note);
  return {
    name,
    ...(typeof description === 'string' ? { description } : {}),
    parameters,
    ...(typeof strict === 'boolean' ? { strict } : {}),
    vendor: { anthropic: { ...vendor?.['anthropic'], tool } },
  };
}

/** Which of Anthropic's own tools this is; undefined for a client's function. */
export function kindOf(tool: Tool): string | undefined {
  const kind = tool.vendor?.['anthropic']?.['kind'];
  return typeof kind === 'string' ? kind : undefined;
}

/** What is on offer once messages have added tools and taken some away: whoever is not Anthropic knows one list only. */
export function toolsAtLast(tools: readonly Tool[], messages: readonly WireMessage[], note: Note): readonly Tool[] {
  const changes = messages.flatMap(changesOf);
  if (changes.length === 0) return tools;
  const known = new Map(tools.map((tool) => [tool.name, tool]));
  const offered = new Set(known.keys());
  for (const { name, isAdded, definition } of changes) {
    if (definition !== undefined) known.set(name, toTool(definition, note));
    if (isAdded) offered.add(name);
    else offered.delete(name);
  }
  return [...known.values()].filter(({ name }) => offered.has(name));
}

function changesOf({ content }: WireMessage): ToolChange[] {
  return typeof content === 'string' ? [] : content.flatMap((block) => toolChange(block) ?? []);
}
