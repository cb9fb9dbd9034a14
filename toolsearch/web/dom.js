// Elements made from data. Text is always text: nothing here, and nothing elsewhere, reads HTML.

const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff]|[\u{e0000}-\u{e007f}]/gu;
const MOST = 20000;

/** Text with every character that cannot be seen written out, cut at a bound. */
export function plain(value) {
  const text = typeof value === "string" ? value : String(value ?? "");
  const cut = text.length > MOST ? `${text.slice(0, MOST)}… (${text.length - MOST} more characters)` : text;
  return cut.replace(UNSEEN, (char) => `⟨U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** An element: el("p.note", {title: "x"}, "text", otherElement). Functions among the attributes are listeners. */
export function el(what, attributes = {}, ...children) {
  const [tag, ...classes] = what.split(".");
  const made = document.createElement(tag);
  if (classes.length) made.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, String(value));
  }
  add(made, children);
  return made;
}

/** Fill an element with other children. */
export function fill(target, ...children) {
  target.replaceChildren();
  add(target, children);
  return target;
}

function add(target, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    target.append(child instanceof Node ? child : plain(child));
  }
}

/** Text from a catalog: its direction is its own and turns nothing around it. */
export const said = (what, text, attributes = {}) => el(what, { dir: "auto", ...attributes }, text);

/** A choice from values; pairs of value and label, the first is "no choice" when its value is "". */
export function choice(label, values, chosen, changed) {
  const options = values.map(([value, text]) => el("option", { value, selected: value === chosen }, text));
  return el("label.field", {}, el("span", {}, label), el("select", { change: (event) => changed(event.target.value) }, options));
}

/** Runs the last of many calls, a moment after it. */
export function soon(work, wait = 120) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...values), wait);
  };
}
