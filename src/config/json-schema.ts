import { z } from 'zod';
import { fileSchema } from './schema.ts';

/** The JSON Schema of `sluice.yaml`, as text, for editors. Draft 7 is the one that all of them understand. */
export function configJsonSchema(): string {
  const { $schema, ...schema } = z.toJSONSchema(fileSchema, { target: 'draft-7', io: 'input' });
  const head = {
    $schema,
    title: 'Configuration of Sluice',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: about the file, not about JavaScript
    description: 'sluice.yaml. Every text may hold ${NAME}, which stands for an environment variable.',
  };
  return `${JSON.stringify({ ...head, ...schema }, null, 2)}\n`;
}
