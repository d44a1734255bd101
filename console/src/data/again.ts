/** How long until what failed is tried again, in ms. */
const pauses = [300, 1200];

/** Does again what chance may have failed: networks change, servers restart. */
export async function again<T>(work: () => Promise<T>, stop?: AbortSignal): Promise<T> {
  for (const ms of pauses) {
    try {
      return await work();
    } catch (e) {
      if (stop?.aborted === true) throw e;
      await new Promise((r) => setTimeout(r, ms));
    }
  }
  return work();
}
