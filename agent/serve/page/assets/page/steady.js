// Nobody means a click on what has just come under the pointer: a conversation that grows, or a card that goes, moves the cards below. And a click that is
// meant isn't lost because the page changes meanwhile.

const still = 500; // how many milliseconds buttons must have been in their places

// steady keeps clicks from the buttons of an element for a moment after they have appeared or moved, and calls missed for each that it keeps. Keys
// aren't kept: they press the button that has the focus. data-settling says whether it is that moment.
export function steady(element, missed) {
  let places = "";
  let moved = performance.now();
  let attached = false;
  const look = () => {
    const now = [...element.querySelectorAll("button")].map((b) => b.getBoundingClientRect()).map((r) => `${Math.round(r.left)} ${Math.round(r.top)}`).join();
    if (now !== places) moved = performance.now();
    places = now;
    const settling = performance.now() - moved < still;
    element.dataset.settling = settling;
    return settling;
  };
  const timer = setInterval(() => {
    if (attached && !element.isConnected) return clearInterval(timer);
    attached ||= element.isConnected;
    look();
  }, 100);
  element.addEventListener(
    "click",
    (event) => {
      if (event.detail === 0 || !event.target.closest("button") || !look()) return;
      event.preventDefault();
      event.stopPropagation();
      missed();
    },
    true,
  );
  element.dataset.settling = true;
  return element;
}

let pressed = null; // the element that the pointer is pressed on
const waiting = new Map(); // functions that redraw elements, by element

function release() {
  pressed = null;
  const all = [...waiting.values()];
  waiting.clear();
  for (const show of all) setTimeout(show); // each by itself: one may fail
}

addEventListener("pointerdown", (event) => event.isPrimary && event.button === 0 && (pressed = event.target), true);
addEventListener("click", () => (pressed = null), true); // what a click does is shown at once
for (const name of ["pointerup", "pointercancel"]) addEventListener(name, (event) => event.isPrimary && setTimeout(release), true);
addEventListener("contextmenu", () => setTimeout(release), true);
addEventListener("blur", (event) => event.target === window && setTimeout(release), true);
addEventListener("pointermove", (event) => pressed && event.buttons === 0 && release(), true); // it was released outside

// whenReleased calls show, which redraws an element: at once, or after the click while a pointer is pressed in the element. The browser drops a click whose
// target was removed between press and release.
export function whenReleased(element, show) {
  if (pressed && element.contains(pressed)) return void waiting.set(element, show);
  waiting.delete(element);
  show();
}
