/**
 * What `load` imports: a development dependency that a build needs. Undefined where it was left out and the build was asked for
 * with `--if-possible`, as `npm ci` does; rejects where it was meant to be.
 */
export async function ifPossible(load) {
  try {
    return await load();
  } catch (error) {
    if (process.argv.includes('--if-possible') && error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
