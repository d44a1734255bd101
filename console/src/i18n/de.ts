import type { Catalogue } from ".";
import { en } from "./en";

export const de: Catalogue = { ...en };
