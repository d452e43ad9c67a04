import { Refusal } from './conversion.ts';

/** The library, or a `Refusal` that says that it is not there. */
export async function load<T>(loader: () => Promise<T>): Promise<T> {
  try {
    return await loader();
  } catch (error) {
    throw new Refusal('was not converted: the converter is not installed', { cause: error });
  }
}
