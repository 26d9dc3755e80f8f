// Loads the page again when the site has changed since it was rendered.
const shown = document.documentElement.dataset.revision;
const source = new EventSource('/events');
source.addEventListener('revision', (event) => {
  if (event.data !== shown) {
    source.close();
    location.reload();
  }
});
addEventListener('pagehide', () => source.close());
// In the frame of the assistant's page, it says where it is.
if (parent !== self) parent.postMessage({ page: location.pathname + location.search }, '*');
