import type { Words } from '../dictionary.ts';
import type { share as english } from '../en/share.ts';

export const share: Words<typeof english> = {
  title: '分享此对话',
  share: '分享…',
  shared: '已分享',
  explain:
    '任何拥有链接并能访问此服务器的人都可以阅读此对话，并看到它的后续内容。其他人无法更改。您附加的文件不会显示。',
  start: '创建链接',
  link: '链接',
  copy: '复制链接',
  open: '打开链接',
  stop: '停止分享',
  stopped: '“{title}”已停止分享。',
  question: '提问',
  reader: '分享的对话',
  live: '此页面会随对话实时更新。',
  gone: '此对话未被分享，或已停止分享。',
  ended: '此对话已停止分享。在您离开之前，仍可阅读已有内容。',
  lost: '服务器没有响应。正在重试…',
  continue: '继续此对话',
  instructions: '指令',
  notUpdated: '“{title}”的分享副本无法更新。{reason}',
};
