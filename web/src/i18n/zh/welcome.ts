import type { Words } from '../dictionary.ts';
import type { welcome as english } from '../en/welcome.ts';

export const welcome: Words<typeof english> = {
  title: '想了解什么？',
  noModels: '暂无可用模型。请在设置中输入提供商的密钥，或启动 Ollama 等本地服务器。',
  providers: '提供商与模型',
  models: { other: '{count} 个模型' },
  noneListed: '没有模型：查看原因',
  demo: '内置模型在本机运行，无需密钥。它只是一个小型演示：会出错，所知有限。',
  addModels: '在设置中输入提供商的密钥，或使用密钥启动 Sluice，其模型就会显示在这里：',
  code: '在代码中使用',
  codeHint: '将此基础 URL 提供给任意 OpenAI 客户端：',
  copyAddress: '复制地址',
  copyCommand: '复制命令',
};
