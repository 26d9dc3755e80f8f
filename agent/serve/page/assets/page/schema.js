// Validates a value while somebody types it, with the keywords of JSON Schema that tools use. What it lets through, the server validates again.

import { texts } from "./texts.js";

const names = { string: "a text", number: "a number", integer: "a whole number", boolean: "true or false", object: "an object", array: "a list", null: "null" };

function typeOf(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (Number.isInteger(value)) return "integer";
  return typeof value;
}

function hasType(value, type) {
  const actual = typeOf(value);
  return actual === type || (type === "number" && actual === "integer");
}

// problem returns what is wrong with a value and where, or null.
export function problem(schema, value, path = "") {
  if (!schema || typeof schema !== "object") return null;
  const say = (text) => ({ path, text });
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length > 0 && !types.some((t) => hasType(value, t))) return say(texts.invalid.type(types.map((t) => names[t] ?? t).join(" or ")));
  if (schema.enum && !schema.enum.some((v) => JSON.stringify(v) === JSON.stringify(value))) return say(texts.invalid.choice);
  switch (typeOf(value)) {
    case "string":
      return ofString(schema, value, say);
    case "integer":
    case "number":
      if (value < schema.minimum) return say(texts.invalid.min(schema.minimum));
      if (value > schema.maximum) return say(texts.invalid.max(schema.maximum));
      return null;
    case "array":
      if (value.length < schema.minItems) return say(texts.invalid.few(schema.minItems));
      if (value.length > schema.maxItems) return say(texts.invalid.many(schema.maxItems));
      for (const [i, v] of value.entries()) {
        const wrong = problem(schema.items, v, `${path}[${i}]`);
        if (wrong) return wrong;
      }
      return null;
    case "object":
      return ofObject(schema, value, path, say);
  }
  return null;
}

function ofString(schema, value, say) {
  const length = [...value].length;
  if (length < schema.minLength) return say(length === 0 ? texts.invalid.required : texts.invalid.short(schema.minLength));
  if (length > schema.maxLength) return say(texts.invalid.long(schema.maxLength));
  if (schema.pattern) {
    try {
      if (!new RegExp(schema.pattern, "u").test(value)) return say(texts.invalid.pattern);
    } catch {
      // The pattern has a form that JavaScript doesn't know.
    }
  }
  return null;
}

function ofObject(schema, value, path, say) {
  for (const name of schema.required ?? []) {
    if (!(name in value)) return say(texts.invalid.missing(name));
  }
  const known = schema.properties ?? {};
  for (const [name, v] of Object.entries(value)) {
    if (!Object.hasOwn(known, name)) {
      if (schema.additionalProperties === false) return say(texts.invalid.unknown(name));
      continue;
    }
    const wrong = problem(known[name], v, path ? `${path}.${name}` : name);
    if (wrong) return wrong;
  }
  return null;
}

// simple returns the type of a field that a form can show: string, number, integer, boolean, enum, or list, which is one of texts; null for others.
export function simple(schema) {
  if (!schema || typeof schema !== "object") return null;
  if (Array.isArray(schema.enum) && schema.enum.every((v) => typeof v === "string")) return "enum";
  const types = [schema.type].flat().filter((t) => t !== "null");
  if (types.length === 1 && types[0] === "array" && simple(schema.items) === "string") return "list";
  return types.length === 1 && ["string", "number", "integer", "boolean"].includes(types[0]) ? types[0] : null;
}

// choiceOf returns how a schema asks somebody to choose: {values, text, name, other}. The answer is a string, or an object with the choice under
// name and perhaps a text under other. It is null for other schemas.
export function choiceOf(schema) {
  const few = (s) => simple(s) === "enum" && s.enum.length <= 6;
  if (few(schema)) return { values: schema.enum, text: schema.description };
  const names = Object.keys(schema?.properties ?? {});
  const [name] = schema?.required ?? [];
  if (!isForm(schema) || names.length > 2 || schema.required?.length !== 1 || !few(schema.properties[name])) return null;
  const other = names.find((n) => n !== name);
  if (other && simple(schema.properties[other]) !== "string") return null;
  return { values: schema.properties[name].enum, text: schema.properties[name].description, name, other };
}

// isForm reports whether a form can show the fields of an object. What isn't simple is a field of JSON.
export function isForm(schema) {
  const fields = Object.values(schema?.properties ?? {});
  return fields.length > 0 && fields.length <= 12 && !schema.$ref && !schema.oneOf && !schema.anyOf && !schema.allOf && fields.some(simple);
}
