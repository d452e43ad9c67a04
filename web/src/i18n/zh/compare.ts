import type { Words } from '../dictionary.ts';
import type { compare as english } from '../en/compare.ts';

export const compare: Words<typeof english> = {
  title: '比较',
  hint: '提问一次，两个模型都会回答。然后选择你更喜欢的继续。',
  side: '模型 {at}',
  alike: '两边是同一个模型，它会回答两次。',
  goOn: '用这个继续',
  again: '新的比较',
  thisAnswer: '与另一个模型比较',
};
