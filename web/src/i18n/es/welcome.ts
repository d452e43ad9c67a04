import type { Words } from '../dictionary.ts';
import type { welcome as english } from '../en/welcome.ts';

export const welcome: Words<typeof english> = {
  title: '¿Qué te gustaría saber?',
  noModels:
    'Todavía no hay ningún modelo disponible. Introduce en los ajustes la clave de un proveedor o inicia un servidor local como Ollama.',
  providers: 'Proveedores y modelos',
  models: { one: '{count} modelo', other: '{count} modelos' },
  noneListed: 'Sin modelos: ver por qué',
  demo: 'El modelo integrado funciona en este equipo sin clave. Es una pequeña demostración: comete errores y sabe poco.',
  addModels:
    'Introduce en los ajustes la clave de un proveedor o inicia Sluice con ella, y sus modelos aparecerán aquí:',
  code: 'Úsalo desde tu código',
  codeHint: 'Da a cualquier cliente de OpenAI esta URL base:',
  copyAddress: 'Copiar la dirección',
  copyCommand: 'Copiar el comando',
};
