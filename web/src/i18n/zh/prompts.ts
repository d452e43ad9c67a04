import type { Words } from '../dictionary.ts';
import type { prompts as english } from '../en/prompts.ts';

export const prompts: Words<typeof english> = {
  title: '提示词',
  hint: '用于开始消息的文本：在消息框中输入 / 和名称。带指令与参数的模型见',
  add: '新建提示词',
  edit: '修改提示词',
  editNamed: '修改“{name}”',
  delete: '删除“{name}”',
  deleted: '“{name}”已删除。',
  use: '用它开始对话',
  search: '搜索提示词',
  empty: '还没有提示词。提示词是你反复使用的文本，例如“用三句话总结：…”。',
  nothing: '没有符合的提示词。',
  name: '标题',
  slash: '斜杠后的名称',
  slashHint: '在消息框中：/{name}',
  taken: '/{name} 已被占用。',
  text: '文本',
  textHint:
    '双花括号中的词会被询问：{{topic}}、{{tone=friendly}}、{{length=short|long}}。{{date}}、{{time}} 和 {{language}} 会自动填入。',
  variables: '将会询问：{names}',
  preview: '完整文本',
  insert: '插入',
  more: '导入与导出提示词',
  import: '导入…',
  export: '全部导出',
  imported: { other: '已导入 {count} 个提示词。' },
};
