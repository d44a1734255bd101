import { useEffect, useState } from "react";

/** How long a question is to be seen before it can be answered: none is under a finger that was on its way to another. */
const moment = 700;

/** Whether this one, and no other, has been there for a moment. */
export function useSeen(id: string | undefined): boolean {
  const [seen, setSeen] = useState<string>();
  useEffect(() => {
    if (id === undefined) return;
    const timer = setTimeout(() => setSeen(id), moment);
    return () => (clearTimeout(timer), setSeen(undefined));
  }, [id]);
  return id !== undefined && seen === id;
}
