// Making elements. Text is always inserted as text; only trusted() inserts HTML.

// h makes an element. Properties that begin with "on" are listeners, "class" and names with a dash are attributes; children that are null or false
// are left out.
export function h(tag, props = {}, ...children) {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) el.addEventListener(name.slice(2), value);
    else if (name === "class" || name === "role" || name === "for" || name.includes("-")) el.setAttribute(name, value === true ? "" : value);
    else el[name] = value;
  }
  add(el, children);
  return el;
}

export function add(el, ...children) {
  for (const child of children.flat(9)) {
    if (child !== undefined && child !== null && child !== false) el.append(child);
  }
  return el;
}

// trusted sets HTML that the server has sanitized. Nothing else may be passed to it.
export function trusted(el, html) {
  el.innerHTML = html;
  return el;
}

// logo is the address of the picture beside the title.
export const logo = new URL("icon.svg", import.meta.url).href;

// The icons are paths in a square of 24, drawn with lines.
const paths = {
  plus: "M12 5v14M5 12h14",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM20 20l-4-4",
  menu: "M4 7h16M4 12h16M4 17h16",
  sidebar: "M4 5h16v14H4zM9.500 5v14",
  close: "M6 6l12 12M18 6L6 18",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  clip: "M20 11l-8.500 8.500a5 5 0 0 1-7-7L13 4a3.500 3.500 0 0 1 5 5l-8.500 8.500a1.800 1.800 0 0 1-2.500-2.500L15 7",
  check: "M5 12.500l4.500 4.500L19 7.500",
  cross: "M7 7l10 10M17 7L7 17",
  warning: "M12 4l9 16H3zM12 10v4M12 17v.01",
  question: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM9.500 9.500a2.500 2.500 0 1 1 3.500 2.300c-.7.3-1 .8-1 1.700M12 16.500v.01",
  clock: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3 2",
  chevron: "M9 6l6 6-6 6",
  up: "M12 19V5M6 11l6-6 6 6",
  down: "M12 5v14M6 13l6 6 6-6",
  pen: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  bin: "M5 7h14M10 7V4.500h4V7M7 7l1 13h8l1-13",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2.500v2M12 19.500v2M2.500 12h2M19.500 12h2M5.300 5.300l1.400 1.400M17.300 17.300l1.400 1.400M18.700 5.300l-1.400 1.400M6.700 17.300l-1.400 1.400",
  moon: "M19 14.500A7.500 7.500 0 0 1 9.500 5a7.500 7.500 0 1 0 9.500 9.500z",
  keyboard: "M3 6.500h18v11H3zM7 10v.01M11 10v.01M15 10v.01M7 14h10",
  minus: "M7 12h10",
  file: "M7 3h7l4 4v14H7zM14 3v4h4",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  reload: "M20 12a8 8 0 1 1-2.500-5.800M20 3.500V8h-4.500",
  undo: "M9 7L4.500 11.500 9 16M5 11.500h9a5 5 0 0 1 0 10h-2",
  pause: "M9 6v12M15 6v12",
  download: "M12 4v11M7 10.500l5 5 5-5M5 20h14",
  open: "M14 5h5v5M19 5l-8 8M17 14v5H5V7h5",
  phone: "M8 3h8v18H8zM12 18v.01",
  bold: "M7 5h6a3.500 3.500 0 0 1 0 7H7zM7 12h7a3.500 3.500 0 0 1 0 7H7z",
  italic: "M10 5h8M6 19h8M14 5l-4 14",
  heading: "M6 5v14M18 5v14M6 12h12",
  list: "M9 6h11M9 12h11M9 18h11M4.500 6v.01M4.500 12v.01M4.500 18v.01",
  quote: "M5 17c2-1 3-3 3-5H5V7h5v5c0 3-2 5-5 5zM14 17c2-1 3-3 3-5h-3V7h5v5c0 3-2 5-5 5z",
  picture: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.500 9v.01",
  info: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 11v5M12 8v.01",
};

export function icon(name, size = 16) {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  const path = document.createElementNS(ns, "path");
  for (const [k, v] of Object.entries({ viewBox: "0 0 24 24", width: size, height: size, fill: name === "stop" ? "currentColor" : "none", stroke: "currentColor", "stroke-width": 2, "stroke-linecap": "round", "stroke-linejoin": "round", "aria-hidden": "true" })) svg.setAttribute(k, v);
  path.setAttribute("d", paths[name]);
  svg.append(path);
  return svg;
}

export function iconButton(name, label, onclick, props = {}) {
  return h("button", { type: "button", class: "icon-button", title: label, "aria-label": label, onclick, ...props }, icon(name, 18));
}

export function button(label, onclick, kind = "", props = {}) {
  return h("button", { type: "button", class: `button ${kind}`, onclick, ...props }, label);
}

// remembered keeps a value in the browser. Without storage it is forgotten.
export const remembered = {
  get(key) {
    try {
      return localStorage.getItem(`pawl.${key}`);
    } catch {
      return null;
    }
  },
  set(key, value) {
    try {
      if (value === null || value === "") localStorage.removeItem(`pawl.${key}`);
      else localStorage.setItem(`pawl.${key}`, value);
    } catch {
      // The storage is full, or forbidden.
    }
  },
};
