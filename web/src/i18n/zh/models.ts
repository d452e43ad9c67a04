import type { Words } from '../dictionary.ts';
import type { models as english } from '../en/models.ts';

export const models: Words<typeof english> = {
  automatic: '自动',
  automaticHint: '第一个能回答的提供商',
  loading: '正在加载模型…',
  model: '模型：',
  models: '模型',
  search: '搜索模型',
  favourites: '收藏',
  favourite: '收藏',
  toggleFavourite: '收藏或取消收藏此模型',
  notListed: '不在列表中',
  gone: '目前不可用',
  askForName: '按此名称请求',
  vision: '可识别图片',
  image: '可生成图片',
  audio: '可生成语音',
  video: '可生成视频',
  tools: '可使用工具',
  reasoning: '先思考再回答',
  context: '最多读取 {count} 个词元',
  price: '每百万词元：问题 {input}，回答 {output}（美元）',
  recent: '最近使用',
  waiting: '使用你自己的密钥',
  enterKey: '输入密钥',
  abilities: '模型需要具备的能力',
};
