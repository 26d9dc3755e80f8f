// Fields for a value with a schema: one for each simple property, or one for JSON. They say what is wrong while somebody types.

import { h } from "./dom.js";
import { humanized, parsed, sentence } from "./format.js";
import { isForm, problem, simple } from "./schema.js";
import { texts } from "./texts.js";

let serial = 0;

// fields returns {element, read, focus}. read returns {json} or {error}, and shows what is wrong. changed is called whenever something was typed. Texts of a secret are hidden.
export function fields(schema, text, label, secret) {
  const value = text ? parsed(text) : undefined;
  if (isForm(schema) && (!text || (value && Object.keys(value).every((k) => Object.hasOwn(schema.properties, k))))) return form(schema, value ?? {}, secret);
  if (simple(schema) || secret) return single(schema ?? { type: "string" }, label, secret);
  return json(schema, text ?? "", label);
}

// field shows one simple value. read returns {value}, {} for nothing, or {error}.
function field(schema, value, label, required, secret) {
  const id = `field-${++serial}`;
  let type = simple(schema) ?? "json";
  // An input that is to be corrected may have anything in it.
  if (type === "list" && value != null && !(Array.isArray(value) && value.every((v) => typeof v === "string" && v !== "" && !v.includes("\n")))) type = "json";
  if (type === "string" && value != null && typeof value !== "string") value = JSON.stringify(value);
  const error = h("span", { class: "error-text", id: `${id}-error`, role: "status" });
  const common = { id, class: "input", "aria-describedby": `${id}-error`, required };
  let control;
  if (type === "boolean") {
    control = h("input", { type: "checkbox", id, checked: value === true });
  } else if (type === "enum") {
    const choices = schema.enum.map((v) => h("option", { value: v, selected: v === value }, v));
    control = h("select", common, !required || !schema.enum.includes(value) ? h("option", { value: "" }, texts.ask.choose) : null, choices);
  } else if (type === "list") {
    control = h("textarea", { ...common, rows: Math.min(8, Math.max(2, (value ?? []).length + 1)), value: (value ?? []).join("\n") });
  } else if (type === "json") {
    const text = value === undefined ? "" : JSON.stringify(value, null, 2);
    control = h("textarea", { ...common, class: "input json", spellcheck: false, rows: Math.min(10, Math.max(3, text.split("\n").length)), value: text });
  } else if (type === "string" && !secret && ((value ?? "").length > 60 || (value ?? "").includes("\n") || schema.maxLength > 200)) {
    control = h("textarea", { ...common, rows: 4, value: value ?? "" });
  } else {
    control = h("input", { ...common, type: secret ? "password" : "text", autocomplete: secret ? "off" : null, inputMode: type === "string" ? "text" : "decimal", value: value ?? "" });
  }
  const read = () => {
    const out = value === null && control.value === "" ? { value } : readControl(control, type, required, value !== undefined);
    const wrong = out.error ?? (out.value !== undefined ? problem(schema, out.value)?.text : undefined);
    error.textContent = wrong ?? "";
    control.setAttribute("aria-invalid", String(Boolean(wrong)));
    return wrong ? { error: wrong } : out;
  };
  control.addEventListener("input", read);
  const about = [schema.description ? sentence(schema.description) : "", type === "list" ? texts.ask.perLine : ""].filter(Boolean).join(" ");
  const name = h("span", { class: "name" }, label, required || type === "boolean" ? null : h("i", {}, ` (${texts.ask.optional})`));
  const element =
    type === "boolean"
      ? h("label", { class: "check" }, control, h("span", {}, name, about ? h("span", { class: "explain" }, about) : null), error)
      : h("label", { for: id }, name, about ? h("span", { class: "explain" }, about) : null, control, error);
  return { element, read, focus: () => control.focus() };
}

function readControl(control, type, required, had) {
  if (type === "boolean") return { value: control.checked };
  const text = control.value;
  if (type === "list") {
    const value = text.split("\n").map((line) => line.trim()).filter(Boolean);
    return value.length === 0 && !required && !had ? {} : { value };
  }
  if (text === "" && type !== "string") return required ? { error: texts.invalid.required } : {};
  if (text === "" && !required && !had) return {};
  if (type === "json") {
    const value = parsed(text);
    return value === undefined ? { error: texts.invalid.json } : { value };
  }
  if (type === "number" || type === "integer") {
    const n = Number(text.trim());
    if (text.trim() === "" || !Number.isFinite(n)) return { error: texts.invalid.number };
    if (type === "integer" && !Number.isSafeInteger(n)) return { error: texts.invalid.integer };
    return { value: n };
  }
  return { value: text };
}

function form(schema, value, secret) {
  const all = Object.entries(schema.properties).map(([name, s]) => [name, field(s, value[name], s.title ?? humanized(name), (schema.required ?? []).includes(name), secret)]);
  return {
    element: h("div", { class: "fields" }, all.map(([, f]) => f.element)),
    focus: () => all[0][1].focus(),
    read() {
      const out = {};
      let error;
      for (const [name, f] of all) {
        const got = f.read();
        if (got.error && !error) {
          error = got.error;
          f.focus();
        }
        if (got.value !== undefined) out[name] = got.value;
      }
      return error ? { error } : { json: JSON.stringify(out) };
    },
  };
}

function single(schema, label, secret) {
  const f = field(schema, undefined, schema.title ?? label, true, secret);
  return {
    element: f.element,
    focus: f.focus,
    read() {
      const got = f.read();
      return got.error ? got : { json: JSON.stringify(got.value) };
    },
  };
}

// json shows one field for JSON. Without a schema, text that isn't JSON is taken as a text.
function json(schema, text, label) {
  const id = `field-${++serial}`;
  const error = h("span", { class: "error-text", id: `${id}-error`, role: "status" });
  const free = !schema && !text;
  const rows = Math.min(14, Math.max(3, text.split("\n").length));
  const area = h("textarea", { id, class: free ? "input" : "input json", rows, value: text, spellcheck: free, "aria-describedby": `${id}-error` });
  const read = () => {
    let out;
    try {
      const value = JSON.parse(area.value);
      const wrong = problem(schema, value);
      out = wrong ? { error: wrong.path ? `${wrong.path}: ${wrong.text}` : wrong.text } : { json: area.value };
    } catch {
      out = free && area.value.trim() ? { json: JSON.stringify(area.value) } : { error: free ? texts.invalid.required : texts.invalid.json };
    }
    error.textContent = out.error ?? "";
    area.setAttribute("aria-invalid", String(Boolean(out.error)));
    return out;
  };
  area.addEventListener("input", read);
  return { element: h("label", { for: id }, h("span", { class: "name" }, label), area, error), read, focus: () => area.focus() };
}
