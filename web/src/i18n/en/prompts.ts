/** Texts to begin messages with. */
export const prompts = {
  title: 'Prompts',
  hint: 'Texts to begin messages with: type / and the name in the message field. A model with instructions and parameters is one of the',
  add: 'New prompt',
  edit: 'Change the prompt',
  editNamed: 'Change “{name}”',
  delete: 'Delete “{name}”',
  deleted: '“{name}” was deleted.',
  use: 'Begin a chat with it',
  search: 'Search the prompts',
  empty:
    'No prompts yet. A prompt is a text that you use again and again, such as “Summarise this in three sentences: …”.',
  nothing: 'No prompt fits.',
  name: 'Title',
  slash: 'Name behind the slash',
  slashHint: 'In the message field: /{name}',
  taken: '/{name} is something else already.',
  text: 'Text',
  textHint:
    'Words in double braces are asked for: {{topic}}, {{tone=friendly}}, {{length=short|long}}. {{date}}, {{time}} and {{language}} are filled in.',
  variables: 'Will be asked for: {names}',
  preview: 'Whole text',
  insert: 'Insert',
  more: 'Take prompts along',
  import: 'Import…',
  export: 'Export all',
  imported: { one: '{count} prompt was imported.', other: '{count} prompts were imported.' },
};
