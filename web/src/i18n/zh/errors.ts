import type { Words } from '../dictionary.ts';
import type { errors as english } from '../en/errors.ts';

export const errors: Words<typeof english> = {
  unreachable: 'Sluice 没有响应。请检查网络连接，并在启动 Sluice 的终端中确认它仍在运行，然后重试。',
  back: 'Sluice 此前没有响应，现已恢复。',
  cut: '与 Sluice 的连接已中断，请重试。',
  lost: '服务器已不再保留此回答的其余部分，请重试。',
  unauthorized: '此服务器需要访问密钥：请打开 Sluice 启动时显示的地址。',
  key: '提供商需要密钥，或拒绝了当前密钥。请在此输入，或写入环境变量或 sluice.yaml。',
  keyless: '提供商需要密钥，但其配置中没有。请在服务器的 sluice.yaml 中为其添加 apiKey。',
  cookies: '提供商需要 Cookie，或拒绝了当前 Cookie。请用浏览器在其网站登录，然后在设置中上传 Cookie。',
  credit: '在该提供商处的余额已用完。请前往充值、输入其他账户的密钥，或选择其他模型。',
  otherModel: '目前没有提供商提供此模型，请在上方选择其他模型。',
  missing: '此对话中的某个文件已不在服务器上。请编辑它所属的问题，并在那里移除它。',
  notSupported: '此模型无法做到，请在上方选择其他模型。',
  tooLarge: '内容过大。请移除文件或开始新对话：每条消息都会发送整个对话。',
  rateLimited: '提供商限制了请求频率。请稍候，或选择其他模型。',
  timeout: '提供商响应过慢。请重试或选择其他模型。',
  upstream: '无法连接提供商，或其回答已中断。请重试或选择其他模型。',
  overloaded: '目前负载过高，请稍候再试。',
  refused: '模型未接受此请求。可尝试更改设置、开始新对话或换用其他模型。',
  storage: '服务器空间不足，或无法写入磁盘。',
  again: '请重试；Sluice 的日志有更多信息。',
};
