import type { Words } from '../dictionary.ts';
import type { aloud as english } from '../en/aloud.ts';

export const aloud: Words<typeof english> = {
  read: '朗读',
  stop: '停止朗读',
  pause: '暂停',
  resume: '继续',
  reading: '正在朗读',
  sentence: '第 {at} 句，共 {count} 句',
  nothing: '这里没有可朗读的内容。',
  noVoice: '没有可用的语音：服务器和此浏览器都没有提供。',
  failed: '朗读失败。{reason}',
};
