import { extend, type Key, translate } from ".";

/** The texts of a question that waits, which come with its card. */
export const enCard = {
  "approval.title": "Approval of {tool}",
  "approval.question": "A question for you",
  "approval.limit": "A limit was reached",
  "approval.what": "What would be done",
  "approval.waits": "waits",
  "approval.expires": "expires in {in}",
  "approval.because": "Because:",
  "approval.continue": "Continue",
  "approval.session": "For this session …",
  "approval.always": "Always …",
  "approval.deny": "Deny",
  "approval.denyWhy": "Deny, say why",
  "approval.say": "What should be done instead?",
  "approval.sure": "This may not be possible to take back.",
  "approval.sure.yes": "Approve all the same",
  "approval.answer": "Your answer",
  "approval.reply": "Answer",
  "approval.decline": "Decline",
  "approval.approve.more": "Approve …",
  "approval.slide": "Slide to approve",
  "risk.low": "low risk",
  "risk.medium": "medium risk",
} as const satisfies Readonly<Record<string, string>>;

extend(enCard);

export function t(key: Key | keyof typeof enCard, values: Readonly<Record<string, string | number>> = {}): string {
  return translate(key, values);
}
