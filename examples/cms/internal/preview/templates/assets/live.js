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
