import type { Model } from '../core/model.ts';

/** What both dialects say of a model's kind and abilities. What is not known of it, it cannot do. */
export function abilityFields(model: Model) {
  return {
    type: model.type ?? 'chat',
    image: model.image ?? false,
    vision: model.vision ?? false,
    audio: model.audio ?? false,
    video: model.video ?? false,
    tools: model.tools ?? false,
    reasoning: model.reasoning ?? false,
    ...(model.contextLength === undefined ? {} : { context_length: model.contextLength }),
  };
}
