import type { composer as english } from '../en/composer.ts';
import type { Words } from '../index.ts';

export const composer: Words<typeof english> = {
  message: '消息',
  placeholder: '随便问点什么',
  send: '发送',
  newLine: '换行',
  editLast: '在空输入框中编辑上一个问题',
  focus: '跳到消息输入框',
  attach: '添加文件',
  attached: '已添加的文件',
  detach: '移除 {name}',
  resend: '重试 {name}',
  drop: '将文件拖放到此处',
  uploading: '正在上传…',
  converting: '正在读取… {size}',
  text: '{size} 文本',
  noText: '此文件中没有文本。',
  failed: '无法添加此文件。',
  failedFile: '无法添加“{name}”。请移除它，或重新添加。',
  web: '搜索',
  webSearch: '为每个问题搜索网络',
  voice: '用语音输入',
  stopVoice: '停止聆听',
  noRecognition: '浏览器的语音识别没有响应，或不支持此语言。并非每个浏览器都自带语音识别。',
  noVoice: '无法使用麦克风，请检查浏览器对此页面的权限。',
  commands: '命令',
};
