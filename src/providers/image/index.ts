import type { ProviderConfig } from '../../config/config.ts';
import type { ImageKind } from '../../config/kinds.ts';
import type { Provider } from '../../core/provider.ts';
import { automatic1111 } from './automatic1111.ts';
import { comfyui } from './comfyui.ts';
import type { ImageProviderDeps } from './deps.ts';
import { fal } from './fal.ts';
import { withGoogleImages } from './google.ts';
import { luma } from './luma.ts';
import { withOpenAiImages } from './openai.ts';
import { withPollinations } from './pollinations.ts';
import { replicate } from './replicate.ts';
import { stability } from './stability.ts';

/** Vendors and local programs that only draw. Libraries load on first use. */
export const imageVendors = { fal, replicate, luma, stability, automatic1111, comfyui } satisfies Record<
  ImageKind,
  (config: ProviderConfig, deps: ImageProviderDeps) => Provider
>;

/** Whether providers of this kind only draw. */
export function isImageKind(kind: string): kind is ImageKind {
  return Object.hasOwn(imageVendors, kind);
}

/** The same provider, which now also draws, where its upstream has a way to. */
export function withImages(provider: Provider, config: ProviderConfig, deps: ImageProviderDeps): Provider {
  if (config.kind === 'google') return withGoogleImages(provider, config, deps);
  if (config.settings['images'] === 'pollinations') return withPollinations(provider, deps);
  return withOpenAiImages(provider, deps);
}
