"use strict";
// Keys, buttons, the form, steps and the enlarged picture. `review.js` is loaded before.

// ---- The form for an edit or a rejection

function openForm(kind) {
  if (!state.item || (kind === "edit" && !state.item.editable)) return;
  const own = state.item.own || { edits: {}, comment: "" };
  state.form = kind;
  $("form-title").textContent = kind === "edit" ? "Edit" : "Reject: why?";
  const fields = kind === "edit" ? state.item.fields.map((field) => input(field, own.edits[field.name])) : [];
  if (kind === "reject" && state.item.steps) fields.push(stepInput());
  const comment = { name: "comment", title: kind === "edit" ? "Comment" : "Reason", value: own.comment, choices: [] };
  fields[kind === "edit" ? "push" : "unshift"](input(comment));
  $("form-fields").replaceChildren(...fields);
  $("form").hidden = false;
  const first = $("form").querySelector("input, textarea, select");
  first.focus();
  if (first.select) first.select();
}

function input(field, value = field.value) {
  const label = element("label", "", field.title);
  const long = field.value.length > 40 || field.name === "comment";
  const control = document.createElement(field.choices.length ? "select" : long ? "textarea" : "input");
  for (const choice of field.choices) control.append(new Option(choice, choice));
  Object.assign(control, { name: field.name, value, autocomplete: "off" });
  if (long) control.rows = Math.min(4, 1 + Math.floor(value.length / 60));
  label.append(control);
  return label;
}

function stepInput() {
  const label = element("label", "", "First bad step (optional)");
  const control = document.createElement("select");
  control.name = "first_bad_step";
  control.append(new Option("none", ""));
  for (let step = 0; step < state.item.steps; step++) control.append(new Option(`step ${step + 1}`, step));
  control.value = state.bad ?? "";
  label.append(control);
  return label;
}

function closeForm() {
  state.form = "";
  $("form").hidden = true;
}

function saveForm() {
  const values = Object.fromEntries(new FormData($("form")));
  const { comment, first_bad_step: step, ...edits } = values;
  if (state.form === "reject") decide("reject", { comment, first_bad_step: step ? Number(step) : null });
  else decide("edit", { comment, edits });
}

// ---- Steps and pictures

function moveStep(by) {
  const steps = [...document.querySelectorAll(".step")];
  if (!steps.length) return false;
  state.step = Math.min(Math.max(state.step + by, 0), steps.length - 1);
  steps.forEach((step, index) => step.classList.toggle("current", index === state.step));
  steps[state.step].scrollIntoView({ block: "center" });
  return true;
}

function mark(step) {
  if (!state.item || !state.item.steps || step < 0) return;
  state.bad = state.bad === step ? null : step;
  showBad();
}

function openZoom(button) {
  if (!button) return;
  Object.assign($("zoom-picture"), { src: button.dataset.src, alt: button.dataset.alt });
  $("zoom").showModal();
  zoom(1);
}

function zoom(factor) {
  state.zoom = Math.min(Math.max(factor, 1), 8);
  const { clientWidth, clientHeight } = $("zoom-picture").parentElement;
  const { naturalWidth, naturalHeight } = $("zoom-picture");
  const fitting = naturalHeight ? Math.min(clientWidth, (clientHeight * naturalWidth) / naturalHeight) : clientWidth;
  $("zoom-picture").style.width = `${fitting * state.zoom}px`;
}

// ---- Keys

const go = (at) => state.items.length && show(at).catch(failed);
const KEYS = {
  a: () => decide("accept"),
  e: () => openForm("edit"),
  r: () => openForm("reject"),
  j: () => go(state.at + 1),
  k: () => go(state.at - 1),
  ArrowRight: () => go(state.at + 1),
  ArrowLeft: () => go(state.at - 1),
  ArrowDown: () => moveStep(1),
  ArrowUp: () => moveStep(-1),
  n: () => nextOpen(state.at) >= 0 && go(nextOpen(state.at)),
  z: () => openZoom(document.querySelector(".zoomable")),
  b: () => mark(state.step),
  1: () => state.item && side(1),
  2: () => state.item && side(2),
  "?": () => $("help").showModal(),
};

function pressed(event) {
  if (event.altKey || event.metaKey || event.ctrlKey) return;
  if ($("zoom").open) {
    if (event.key === "+" || event.key === "=") zoom(state.zoom * 1.5);
    if (event.key === "-") zoom(state.zoom / 1.5);
    if (event.key === "z") $("zoom").close();
    return;
  }
  if ($("help").open) return;
  if (state.form) {
    if (event.key === "Escape") closeForm();
    const typing = event.target.tagName !== "BUTTON" && !event.isComposing;
    if (event.key === "Enter" && typing && !event.shiftKey) {
      event.preventDefault();
      saveForm();
    }
    return;
  }
  if (event.repeat && "aer12".includes(event.key)) return;
  const action = KEYS[event.key];
  if (action && action() !== false) event.preventDefault();
}

addEventListener("keydown", pressed);
addEventListener("hashchange", () => location.hash.startsWith("#token=") && start());
addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.key) KEYS[button.dataset.key]();
  if (button.classList.contains("zoomable")) openZoom(button);
  if (button.classList.contains("mark")) mark(Number(button.dataset.step));
});
$("form").addEventListener("submit", (event) => { event.preventDefault(); saveForm(); });
$("form-cancel").addEventListener("click", closeForm);
$("help-button").addEventListener("click", () => $("help").showModal());
$("help-close").addEventListener("click", () => $("help").close());
$("zoom-close").addEventListener("click", () => $("zoom").close());
// A picture that arrives late keeps what was asked for meanwhile.
$("zoom-picture").addEventListener("load", () => zoom(state.zoom));
$("zoom-in").addEventListener("click", () => zoom(state.zoom * 1.5));
$("zoom-out").addEventListener("click", () => zoom(state.zoom / 1.5));
start();
