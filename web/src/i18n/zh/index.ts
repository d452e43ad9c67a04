import type { Dictionary } from '../index.ts';
import { chat } from './chat.ts';
import { commands } from './commands.ts';
import { compare } from './compare.ts';
import { composer } from './composer.ts';
import { dashboard } from './dashboard.ts';
import { errors } from './errors.ts';
import { history } from './history.ts';
import { media } from './media.ts';
import { memory } from './memory.ts';
import { models } from './models.ts';
import { presets } from './presets.ts';
import { prompts } from './prompts.ts';
import { settings } from './settings.ts';
import { share } from './share.ts';
import { shell } from './shell.ts';
import { voices } from './voices.ts';
import { welcome } from './welcome.ts';

export const dictionary: Dictionary = {
  chat,
  commands,
  compare,
  composer,
  dashboard,
  errors,
  history,
  media,
  memory,
  models,
  presets,
  prompts,
  settings,
  share,
  shell,
  voices,
  welcome,
};
