"use strict";
// The page holds no state that matters: what counts is on the server, and each decision names what it was made upon.

const $ = (id) => document.getElementById(id);
const state = { items: [], at: -1, role: "", item: null, busy: false, step: -1, bad: null, form: "", zoom: 1, turn: 0, silence: 0 };

// ---- Talking to the server

async function api(path, options = {}) {
  let response;
  try {
    response = await fetch(`api/${path}`, options);
  } catch {
    throw { status: 0, error: "The server does not answer. What it did not confirm may not be saved; try again when it runs." };
  }
  const body = await response.json().catch(() => ({ error: `The server answered ${response.status}.` }));
  if (!response.ok) throw { status: response.status, error: body.error };
  return body;
}

const itemPath = (id) => `items/${encodeURIComponent(id)}`;

async function start() {
  const token = location.hash.startsWith("#token=") ? location.hash.slice(7) : "";
  try {
    if (token) {
      history.replaceState(null, "", location.pathname);
      await api("session", { method: "POST", headers: { Authorization: `Bearer ${token}` } });
    }
    await loadQueue();
    const wanted = decodeURIComponent(location.hash.slice(1));
    const at = state.items.findIndex((row) => row.item_id === wanted);
    await show(at >= 0 ? at : Math.max(0, nextOpen(-1)));
  } catch (problem) {
    failed(problem);
  }
}

async function loadQueue() {
  const queue = await api("queue");
  state.items = queue.items;
  state.role = queue.role;
  $("who").textContent = `${queue.name} · ${queue.role}`;
  document.title = `${queue.name}: review of ${queue.queue}`;
  showProgress();
}

// ---- Showing

async function show(at, message = "") {
  closeForm();
  if (!state.items.length) return showNothing(message);
  state.at = Math.min(Math.max(at, 0), state.items.length - 1);
  const row = state.items[state.at];
  const turn = ++state.turn;
  $("item").setAttribute("aria-busy", "true");
  const item = await api(itemPath(row.item_id)).finally(() => $("item").setAttribute("aria-busy", "false"));
  if (turn !== state.turn) return; // another item was asked for meanwhile
  Object.assign(state, { item, step: -1, bad: item.own ? item.own.first_bad_step : null });
  history.replaceState(null, "", `#${encodeURIComponent(row.item_id)}`);
  $("item").innerHTML = item.html; // made and escaped by the server
  $("title").textContent = item.title;
  $("item-id").textContent = item.item_id;
  $("heading").hidden = $("actions").hidden = false;
  document.querySelector("[data-key=e]").hidden = !item.editable;
  showOwn();
  showBad();
  showProgress();
  scrollTo(0, 0);
  say(message);
}

function showNothing(message) {
  state.item = null;
  $("heading").hidden = $("actions").hidden = true;
  $("item").replaceChildren(element("p", "panel", "Nothing waits for you. Reload the page to look again."));
  showProgress();
  say(message);
}

function showOwn() {
  const own = state.item.own;
  $("own").replaceChildren();
  if (!own) return;
  const said = element("span", `badge ${own.choice}`, own.choice);
  $("own").append("your decision: ", said, own.comment ? ` ${own.comment}` : "");
}

function showProgress() {
  const done = state.items.filter((row) => row.choice).length;
  $("progress").max = Math.max(1, state.items.length);
  $("progress").value = done;
  $("count").textContent = `${done} of ${state.items.length} done`;
  $("position").textContent = state.items.length ? `${state.at + 1} / ${state.items.length}` : "";
}

function showBad() {
  for (const button of document.querySelectorAll(".mark")) {
    const marked = Number(button.dataset.step) === state.bad;
    button.setAttribute("aria-pressed", marked);
    button.closest(".step").classList.toggle("bad", marked);
  }
}

function say(text, bad = false) {
  $("message").textContent = text;
  $("message").hidden = !text;
  $("message").classList.toggle("bad", bad);
  clearTimeout(state.silence);
  if (text && !bad) state.silence = setTimeout(() => say(""), 4000);
}

function failed(problem) {
  if (!("error" in problem)) throw problem;
  say(problem.error, true);
  if (problem.status === 401) {
    state.item = null;
    $("heading").hidden = $("actions").hidden = true;
    $("item").replaceChildren();
  }
}

function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

// ---- Deciding

const nextOpen = (from) => {
  const order = state.items.map((_, index) => (from + 1 + index) % state.items.length);
  return order.find((index) => !state.items[index].choice) ?? -1;
};

async function decide(choice, extra = {}) {
  if (state.busy || !state.item) return;
  state.busy = true;
  const { item_id, digest, revision, upon } = state.item;
  const body = JSON.stringify({ choice, digest, revision, upon, ...extra });
  const headers = { "Content-Type": "application/json" };
  try {
    await api(`${itemPath(item_id)}/decision`, { method: "POST", headers, body });
    await moveOn(item_id, `Saved: ${choice} for ${item_id}.`).catch(failed);
  } catch (problem) {
    await refused(problem, item_id);
  } finally {
    state.busy = false;
  }
}

async function moveOn(itemId, told) {
  await loadQueue();
  const next = nextOpen(state.items.findIndex((row) => row.item_id === itemId));
  if (next >= 0) await show(next, told);
  else await show(state.at, `${told} Nothing else is open.`);
}

async function refused(problem, itemId) {
  if (problem.status !== 409 && problem.status !== 404) return failed(problem);
  // Somebody was faster: show what there is now, and say what happened.
  try {
    await loadQueue();
    const at = state.items.findIndex((row) => row.item_id === itemId);
    await show(at >= 0 ? at : state.at);
    say(problem.error, true);
  } catch (other) {
    failed(other);
  }
}

function side(number) {
  const opinion = state.item.opinions[number - 1];
  if (opinion) decide(opinion.choice, { edits: opinion.edits, comment: opinion.comment, first_bad_step: opinion.first_bad_step });
}
