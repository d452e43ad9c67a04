import type { Tool } from '../../core/chat.ts';
import { modelName } from '../../core/tool-names.ts';
import { asFunction } from '../freeform.ts';
import type { Json } from './wire.ts';

/** A tool that the client runs itself: as it wrote it, and as models get it, who know functions only. */
export interface Callable {
  readonly name: string;
  readonly namespace?: string;
  /** It is called with a text instead of arguments. */
  readonly isFreeform: boolean;
  readonly tool: Tool;
}

/** The tools of a request that models can call; those of a namespace stand for themselves. */
export function callablesOf(tools: readonly Json[]): readonly Callable[] {
  return tools.flatMap((tool) => {
    if (tool['type'] !== 'namespace') return callable(tool);
    const { name, tools: within } = tool as { name: string; tools: readonly Json[] };
    return within.flatMap((each) => callable(each, name));
  });
}

/** The tools of a request by the names that models know them by. */
export function byModelName(tools: readonly Json[]): ReadonlyMap<string, Callable> {
  return new Map(callablesOf(tools).map((each) => [each.tool.name, each]));
}

function callable(written: Json, namespace?: string): readonly Callable[] {
  const { type, name } = written;
  if (typeof name !== 'string' || (type !== 'function' && type !== 'custom')) return [];
  const isFreeform = type === 'custom';
  const tool = isFreeform ? asFunction(name, written) : toTool(name, written);
  return [
    {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      isFreeform,
      tool: { ...tool, name: modelName(name, namespace) },
    },
  ];
}

function toTool(name: string, { description, parameters, strict }: Json): Tool {
  return {
    name,
    ...(typeof description === 'string' ? { description } : {}),
    ...(typeof parameters === 'object' && parameters !== null ? { parameters: parameters as Json } : {}),
    ...(typeof strict === 'boolean' ? { strict } : {}),
  };
}
