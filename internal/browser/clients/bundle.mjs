// Bundles stock clients into the folder ../out: pages with useChat of ai 6 and of ai 7 (chat6.js, chat7.js), and the same clients, that of Vue, and
// assistant-ui for Node.
import { build } from "esbuild";

const common = { bundle: true, format: "esm", logLevel: "warning", define: { "process.env.NODE_ENV": '"production"' } };
const seven = { ai: "ai7", "@ai-sdk/react": "react7" };
const clients = {
  6: { ai: "ai6", "@ai-sdk/react": "react6", client: "react6" },
  7: { ...seven, client: "react7" },
  vue: { ai: "ai7", client: "vue7" },
  assistant: { ...seven, client: "./assistant_chat.js" },
};
const banner = { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' };
for (const [name, alias] of Object.entries(clients)) {
  if (name === "6" || name === "7") await build({ ...common, entryPoints: ["chat.js"], outfile: `../out/chat${name}.js`, alias });
  await build({ ...common, entryPoints: ["usechat_node.js"], outfile: `../out/usechat_node${name}.mjs`, alias, platform: "node", banner });
}
