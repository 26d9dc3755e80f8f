// Nobody means a click on what has just come under the pointer: a conversation that grows, or a card that goes, moves the cards below.

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
