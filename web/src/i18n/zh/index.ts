import type { Dictionary } from '../index.ts';
import { aloud } from './aloud.ts';
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
import { transfer } from './transfer.ts';
import { voices } from './voices.ts';
import { welcome } from './welcome.ts';

export const dictionary: Dictionary = {
  aloud,
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
  transfer,
  voices,
  welcome,
};
