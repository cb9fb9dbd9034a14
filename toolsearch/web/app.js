// The page: which view is shown, which index is asked, who asks. The address after # holds everything.

import { ask, hasKey, path, setKey } from "./api.js";
import { el, fill, plain } from "./dom.js";
import { openTool } from "./tool.js";

const VIEWS = { search: "./search.js", compare: "./compare.js", findability: "./findability.js", sources: "./sources.js" };
const main = document.getElementById("main");
const notice = document.getElementById("notice");

/** What the address says: the view and its parameters. */
function place() {
  const [, name, query] = /^#\/([a-z]*)\??(.*)$/.exec(location.hash) ?? [];
  return { name: name in VIEWS ? name : "search", parameters: new URLSearchParams(query) };
}

/** What all views share. `set` changes the address without a new step in the history. */
export const shared = {
  indexes: [],
  get index() {
    const wanted = place().parameters.get("index");
    return this.indexes.find((one) => one.name === wanted) ?? this.indexes[0];
  },
  get(name) {
    return place().parameters.get(name) ?? "";
  },
  set(changes) {
    const { name, parameters } = place();
    for (const [key, value] of Object.entries(changes)) value ? parameters.set(key, value) : parameters.delete(key);
    const query = parameters.toString();
    history.replaceState(null, "", `#/${name}${query ? `?${query}` : ""}`);
    carry();
  },
  fail(error) {
    if (error.status === 401) return askKey(error.message);
    const more = error.wait ? `; try again in ${error.wait} s` : "";
    fill(notice, `${error.message}${more}`);
    notice.hidden = false;
    return undefined;
  },
  fine() {
    notice.hidden = true;
  },
};

/** Links between views keep the request and the index. */
function carry() {
  const kept = new URLSearchParams();
  for (const name of ["q", "index"]) if (shared.get(name)) kept.set(name, shared.get(name));
  for (const link of document.querySelectorAll("nav a")) {
    link.href = `#/${link.dataset.view}${kept.size ? `?${kept}` : ""}`;
  }
}

async function show() {
  const { name, parameters } = place();
  for (const link of document.querySelectorAll("nav a")) {
    link.dataset.view === name ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
  }
  carry();
  shared.fine();
  document.title = `${name} · toolsearch`;
  main.dataset.view = name;
  try {
    const view = await import(VIEWS[name]);
    fill(main, ...[].concat(await view.show(shared)));
    if (parameters.get("tool")) openTool(shared, parameters.get("tool"));
  } catch (error) {
    fill(main);
    shared.fail(error);
  }
}

async function start() {
  try {
    shared.indexes = (await ask(path("indexes"))).indexes;
  } catch (error) {
    shared.fail(error);
    return;
  }
  if (!shared.indexes.length) return;
  facts();
  const choose = document.getElementById("index");
  fill(choose, ...shared.indexes.map((one) => el("option", { value: one.name, selected: one === shared.index }, one.name)));
  document.getElementById("index-choice").hidden = shared.indexes.length < 2;
  choose.addEventListener("change", () => {
    shared.set({ index: choose.value, ns: "", tag: "" });
    facts();
    show();
  });
  addEventListener("hashchange", show);
  await show();
}

function facts() {
  document.getElementById("facts").textContent = plain(`${shared.index.tools.toLocaleString("en")} tools`);
}

function askKey(reason) {
  const dialog = document.getElementById("key");
  const field = el("input", { type: "password", id: "key-field", autocomplete: "off", required: true });
  const form = el(
    "form",
    {
      submit: (event) => {
        event.preventDefault();
        setKey(field.value.trim());
        dialog.close();
        start();
      },
    },
    el("h2", { id: "key-title" }, "This service wants a key"),
    el("p.quiet", {}, hasKey() ? `The key was not taken: ${reason}` : "It is kept in this tab only and sent to this service only."),
    el("label.field", { for: "key-field" }, el("span", {}, "Key"), field),
    el("button.main", { type: "submit" }, "Use it"),
  );
  fill(dialog, form);
  if (!dialog.open) dialog.showModal();
}

addEventListener("keydown", (event) => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
    const field = document.getElementById("query");
    if (field && !document.querySelector("dialog[open]")) {
      event.preventDefault();
      field.focus();
      field.select();
    }
  }
});

start();
