// Questions to the service. A key is kept for this tab only.

const KEPT = "toolsearch-key";

export class Problem extends Error {
  constructor(status, detail, wait) {
    super(detail);
    this.status = status;
    this.wait = wait;
  }
}

export const setKey = (key) => (key ? sessionStorage.setItem(KEPT, key) : sessionStorage.removeItem(KEPT));
export const hasKey = () => sessionStorage.getItem(KEPT) !== null;

/** The JSON answer to a request; throws a Problem with the service's own words. */
export async function ask(path, { body, signal, method } = {}) {
  const headers = { Accept: "application/json" };
  const key = sessionStorage.getItem(KEPT);
  if (key) headers.Authorization = `Bearer ${key}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
  });
  const said = await answer.json().catch(() => ({}));
  if (answer.ok) return said;
  const wait = Number(answer.headers.get("Retry-After")) || 0;
  const near = said.near?.length ? `; near are ${said.near.join(", ")}` : "";
  throw new Problem(answer.status, `${said.detail || `the service answered ${answer.status}`}${near}`, wait);
}

/** A path below /v1 with those parameters that are set. */
export function path(place, parameters = {}) {
  const set = Object.entries(parameters).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const query = new URLSearchParams(set).toString();
  return `v1/${place}${query ? `?${query}` : ""}`;
}

/** The path of a tool: ids hold slashes, which stay; everything else is escaped. */
export function toolPath(id, parameters) {
  const parts = id.split("/").map(encodeURIComponent);
  if (parts.some((part) => /^\.{0,2}$/.test(part))) throw new Problem(404, `the id "${id}" cannot be asked for by its path`);
  return path(`tools/${parts.join("/")}`, parameters);
}

/** Asks only for the newest: an older question that is still under way is given up. */
export function newest() {
  let running = null;
  return async (place, options = {}) => {
    running?.abort();
    const mine = (running = new AbortController());
    try {
      return await ask(place, { ...options, signal: mine.signal });
    } catch (error) {
      if (error.name === "AbortError") return null;
      throw error;
    }
  };
}
