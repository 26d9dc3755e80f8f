// What a preview does besides showing the page: it loads itself again when the site changes, sends no
// forms, and talks with the page of the assistant if that shows it in a frame.
const root = document.documentElement;

// A browser has few connections to one server, so a hidden page listens to nothing.
let source;
function listen() {
  source?.close();
  if (document.hidden) return;
  source = new EventSource('/assets/events');
  source.addEventListener('revision', (event) => {
    if (event.data === root.dataset.revision) return;
    source.close();
    sessionStorage.setItem('scroll', JSON.stringify([location.href, scrollY]));
    location.reload();
  });
}
listen();
document.addEventListener('visibilitychange', listen);
addEventListener('pagehide', () => source?.close());

const [at, y] = JSON.parse(sessionStorage.getItem('scroll') || '[]');
sessionStorage.removeItem('scroll');
if (at === location.href) scrollTo({ top: y, behavior: 'instant' });

for (const form of document.forms) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    form.querySelector('.sent').hidden = false;
  });
}

// The origin of the page around the frame. Its address is given once, and kept for the tab.
const given = new URLSearchParams(location.search).get('frame');
if (given) sessionStorage.setItem('frame', given);
const frame = parent === self ? null : sessionStorage.getItem('frame');
if (frame) connect();

function connect() {
  const tell = (message) => parent.postMessage(message, frame);
  const { slug = '', status = '' } = root.dataset;
  tell({
    pawl: 'shown', slug, status, path: location.pathname, title: document.title,
    missing: 'missing' in root.dataset, entry: 'entry' in root.dataset,
  });
  root.classList.add('framed');
  addEventListener('click', (event) => {
    const section = event.target.closest('[data-section]');
    if (!section || event.target.closest('a, button, input, textarea, label')) return;
    if (String(getSelection())) return; // words were selected
    const { section: id, kind, name } = section.dataset;
    tell({ pawl: 'section', id, kind, name, slug });
  });
  addEventListener('message', ({ origin, source: from, data }) => {
    if (origin !== frame || from !== parent || data?.pawl !== 'highlight') return;
    document.querySelector('.highlight')?.classList.remove('highlight');
    const section = [...document.querySelectorAll('[data-section]')].find((s) => s.dataset.section === data.id);
    section?.classList.add('highlight');
    section?.scrollIntoView({ block: 'center', behavior: 'smooth' });
  });
}
