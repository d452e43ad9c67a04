import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';

/** Makes of each part of a stream those that take its place. Raw events come right before the parts that the library makes of them. */
export interface PartReader {
  read(part: LanguageModelV4StreamPart): Iterable<LanguageModelV4StreamPart>;
}

type Stream = (options: LanguageModelV4CallOptions) => PromiseLike<LanguageModelV4StreamResult>;

/** A library's model that streams in another way. */
export function streaming(model: LanguageModelV4, doStream: Stream): LanguageModelV4 {
  return {
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (options) => model.doGenerate(options),
    doStream,
  };
}

/** A library's stream as `reader` reads it. */
export function readBy(reader: PartReader, result: LanguageModelV4StreamResult): LanguageModelV4StreamResult {
  const stream = result.stream.pipeThrough(
    new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
      transform: (part, controller) => {
        for (const each of reader.read(part)) controller.enqueue(each);
      },
    }),
  );
  return { ...result, stream };
}
