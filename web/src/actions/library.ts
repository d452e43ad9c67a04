import { app } from '../state/app.ts';
import type { Chat } from '../state/model.ts';
import { byName, PRESETS, type Preset } from '../state/presets.ts';
import { PROMPTS, type Prompt } from '../state/prompts.ts';
import { createLibrary } from '../storage/library.ts';
import { choose } from './chats.ts';
import { changeSetup } from './setup.ts';

/** The presets of this browser, by name. */
export const presets = createLibrary<Preset>(PRESETS, byName);
/** The same of prompts. */
export const prompts = createLibrary<Prompt>(PROMPTS, byName);

/** Makes answers of a chat as a preset says; without a chat, those of the next one. */
export function applyPreset(preset: Preset, chat: Chat | undefined): void {
  changeSetup(chat, { system: preset.system ?? '', parameters: preset.parameters ?? {} });
  if (preset.choice !== undefined) choose(app.get().chats.byId[chat?.id ?? ''], preset.choice);
}
