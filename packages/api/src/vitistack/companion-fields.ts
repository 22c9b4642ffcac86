import { conditionField } from "../meta/condition.ts";
import type { Condition } from "../meta/condition.ts";
import { integer, list, string } from "../schema/field.ts";

/** Any text. */
export const text = (description: string) => string({ description });

/** Any whole number. */
export const whole = (description: string) => integer({ description });

/** A time as RFC 3339. */
export const time = (description: string) => string({ description, format: "date-time" });

/** A list of texts. */
export const texts = (description: string, item: string) => list(text(item), { description });

/** An identifier of an inventory: 2 to 32 letters, digits, dashes and underscores. */
export const identifier = (description: string, minLength = 2) =>
  string({ description, pattern: "^[A-Za-z0-9_-]+$", minLength, maxLength: 32 });

/** Conditions of a kind that others write: as metav1.Condition, in a plain list as published. */
export const foreignConditions = list<Condition>(conditionField, { description: "What its own operator observed." });
