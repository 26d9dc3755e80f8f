// Files that somebody attaches or drops: they go into the media library, and the message names them.

import { h } from "../page/dom.js";
import { bytes } from "../page/format.js";
import { texts } from "../page/texts.js";
import { upload } from "./rest.js";
import { words } from "./words.js";

const most = 16 << 20; // bytes, as site.MaxUpload

export class Uploads {
  // changed is called when the library has something new.
  constructor(page, areas, changed) {
    Object.assign(this, { page, composer: page.composer, changed });
    this.bar = h("div", { class: "uploading", hidden: true, role: "status" });
    const { composer } = this;
    composer.chips.before(this.bar);
    composer.attach.hidden = false;
    composer.attach.title = words.attach;
    composer.attach.setAttribute("aria-label", words.attach);
    composer.take = (list, event) => list?.length && (event?.preventDefault(), this.add([...list], true));
    const send = composer.send.bind(composer);
    composer.send = (message) => send({ ...message, files: [], text: named(message) });
    for (const type of ["dragover", "dragleave", "drop"]) areas.element.addEventListener(type, (e) => this.drag(e, areas));
  }

  drag(event, areas) {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault(); // the browser would leave the page
    areas.element.classList.toggle("drop", event.type === "dragover");
    if (event.type !== "drop" || event.target.closest(".composer")) return;
    this.add([...event.dataTransfer.files], !areas.all.site.contains(event.target));
  }

  // add uploads files. With attach, the next message names them.
  async add(files, attach) {
    const { composer, bar } = this;
    composer.complain();
    for (const file of files) {
      const problem = file.size === 0 ? texts.fileEmpty(file.name) : file.size > most ? words.tooLarge(file.name, bytes(most)) : "";
      if (problem) {
        this.failed(problem, attach);
        continue;
      }
      const part = h("progress", { max: 1, value: 0, "aria-label": words.uploading(file.name) });
      bar.replaceChildren(h("span", {}, words.uploading(file.name)), part);
      bar.hidden = false;
      try {
        const media = await upload(file, (done) => (part.value = done));
        if (attach) composer.attached.push({ name: media.name, type: media.mimeType, size: media.size });
        else this.page.say(words.uploaded(media.name));
      } catch (error) {
        this.failed(words.notUploaded(file.name, error.message), attach);
      }
      bar.hidden = true;
      composer.show();
    }
    composer.chooser.value = "";
    this.changed();
    if (attach) composer.focus();
  }

  failed(text, attach) {
    if (attach) this.composer.complain(text);
    else this.page.toast(text, texts.close, () => {}, 8000);
  }
}

// named is the text of a message, with the files that it doesn't name by itself.
function named({ text, files }) {
  const lines = (files ?? []).filter((f) => !text.includes(f.name)).map((f) => words.uploadedFile(f.name));
  return [text, lines.join("\n")].filter(Boolean).join("\n\n");
}
