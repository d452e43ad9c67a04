import type { AnsweredAs } from './chunk.ts';

/** Characters of each that are kept: both come from upstreams. */
const LONGEST = 256;

/** What an upstream says of its answer, as a member of the chunk that ends it; none where it says nothing. */
export function answeredAs(id: unknown, model: unknown): { readonly answeredAs?: AnsweredAs } {
  const said = {
    ...(isName(id) ? { id: id.slice(0, LONGEST) } : {}),
    ...(isName(model) ? { model: model.slice(0, LONGEST) } : {}),
  };
  return said.id === undefined && said.model === undefined ? {} : { answeredAs: said };
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
