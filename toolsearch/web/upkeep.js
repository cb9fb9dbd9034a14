// Buttons that do something to a source, and changes of tools with what differs.

import { ask } from "./api.js";
import { el, said } from "./dom.js";

const MOST = 5;

/** A button that posts to a place; `done` of the upkeep gets the answer, also when it failed and was told. */
export function acting({ shared, done }, label, text, place, body) {
  const work = async (event) => {
    event.target.disabled = true;
    try {
      const answer = await ask(place, { method: "POST", body });
      shared.fine();
      await done(answer);
    } catch (error) {
      await done();
      shared.fail(error);
    }
    event.target.disabled = false;
  };
  return el("button", { type: "button", "aria-label": label, click: work }, text);
}

/** A changed tool: its id, the lines that differ, and a button that lets it in. */
export function changeOf(upkeep, id, difference, place) {
  return el(
    "details.change",
    {},
    said("summary", id),
    said("pre", difference || "new", { tabindex: "0" }),
    acting(upkeep, `Approve ${id}`, "Approve", place, { tools: [id] }),
  );
}

/** The first of what could not be read. */
export function problems(found) {
  const more = found.length > MOST ? el("p.quiet", {}, `and ${found.length - MOST} more problems`) : null;
  return [found.slice(0, MOST).map((one) => said("p.problem", one)), more];
}
