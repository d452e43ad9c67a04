import type { Words } from '../dictionary.ts';
import type { voices as english } from '../en/voices.ts';

export const voices: Words<typeof english> = {
  hint: '回答将用此语音朗读。点击扬声器可试听一句话。',
  automatic: '自动',
  automaticHint: '服务器上适合你语言的语音，否则用浏览器的语音',
  server: '服务器：{provider}',
  browser: '此浏览器',
  standard: '默认语音',
  local: '文本留在本机',
  remote: '浏览器会将文本发送给其厂商',
  listenTo: '试听 {voice}',
  stop: '停止',
  sample: '你好！我为你朗读回答时就是这个声音。',
  other: '{provider} 的其他语音',
  otherHint: '提供商所用的名称或 ID',
  none: '没有可用的语音：服务器和此浏览器都没有提供。',
};
