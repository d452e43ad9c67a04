import { getLlama, type Llama, LlamaLogLevel } from 'node-llama-cpp';

/** The processor everywhere; on Apple silicon the library's only ready-made binary is the one for Metal. */
const GPU = process.platform === 'darwin' && process.arch === 'arm64' ? 'metal' : false;

/** The library's native part, as it was installed: nothing is built or fetched. Its messages go to stderr. */
export function openLlama(threads: number): Promise<Llama> {
  return getLlama({
    build: 'never',
    gpu: GPU,
    skipDownload: true,
    progressLogs: false,
    maxThreads: threads,
    logLevel: LlamaLogLevel.error,
    logger: (_level, message) => console.error(message.trimEnd()),
  });
}
