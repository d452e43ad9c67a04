import type { Words } from '../dictionary.ts';
import type { transfer as english } from '../en/transfer.ts';

export const transfer: Words<typeof english> = {
  import: '导入对话…',
  importTitle: '导入对话',
  importHint:
    '可导入 Sluice、ChatGPT、Claude、Open WebUI、LibreChat 和 chatbot-ui 的导出文件，JSON 或原始 ZIP 压缩包均可。内容只保存在此浏览器中。',
  choose: '选择文件',
  drop: '或拖放到此处',
  reading: '正在读取…',
  from: '来自 {program}',
  imported: { other: '已导入 {count} 个对话' },
  known: { other: '{count} 个已存在' },
  empty: { other: '{count} 个没有消息' },
  unknown: { other: '{count} 个未知类型的条目' },
  broken: { other: '{count} 个无法读取' },
  unread: { other: '压缩包中有 {count} 个文件无法读取' },
  leftOut: { other: '{count} 个图片或文件不在导出中' },
  cut: '最后一行不完整：文件在那里中断。',
  notRead: '这既不是 JSON，也不是包含 JSON 文件的 ZIP 压缩包。',
  noChats: '此文件中没有对话。',
  refused: '浏览器拒绝保存。可能空间不足。',
  show: '查看对话',
  export: '导出',
  sources: '来源',
  exportMarkdown: '导出为 Markdown',
  exportJson: '导出为 JSON',
  exportAllMarkdown: '全部导出为 Markdown',
  exportAllJson: '全部导出为 JSON',
  exported: { other: '已导出 {count} 个对话。' },
  nothing: '还没有可导出的内容。',
};
