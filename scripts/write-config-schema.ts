// Writes sluice.schema.json, which editors use to complete sluice.yaml. Run after every change of src/config/schema.ts:
//   node bin/with-node.js scripts/write-config-schema.ts
import { writeFileSync } from 'node:fs';
import { configJsonSchema } from '../src/config/json-schema.ts';

writeFileSync(new URL('../sluice.schema.json', import.meta.url), configJsonSchema());
